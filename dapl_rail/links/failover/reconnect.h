/* SPDX-License-Identifier: BSD-3-Clause */
/* Another EP for a lost link. The active side tries now and then. */
#ifndef DRAIL_LINKS_FAILOVER_RECONNECT_H
#define DRAIL_LINKS_FAILOVER_RECONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>

struct link;
struct link_hello;
struct peer;
struct rail;

struct reconnect {
    uint64_t retry_ns; /* time of the next step; 0: not yet set */
    uint64_t asked_ns; /* when the present attempt began */
    unsigned backoff_ms;
};

/* Tries, if it is time; gives up an attempt that is not answered. */
void reconnect_step(struct link *link);
/* Passive side: a request has been accepted. The peer has its time to confirm
 * that. */
void reconnect_await(struct link *link);
/* Passive side: accepts the peer's request. False: the caller must reject it.
 */
bool reconnect_accept(struct rail *rail, DAT_CR_HANDLE cr, struct peer *peer,
                      const struct link_hello *hello);

#endif
