/* SPDX-License-Identifier: BSD-3-Clause */
/* What the provider of a link's EP reports of the wire below it, if it does. */
#ifndef DRAIL_LINKS_FAILOVER_HEALTH_H
#define DRAIL_LINKS_FAILOVER_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

struct link;

/* The peer's system acknowledges also while the peer is stopped. */
struct health {
    bool reported;      /* else the rest is 0 */
    uint64_t silent_ms; /* the system owes an acknowledgement and has been
                           silent for so long; 0: it owes none */
    uint64_t answer_ms; /* an acknowledgement takes so long */
    uint64_t bytes;     /* that have passed, in both directions */
};

struct health link_health(const struct link *link);

#endif
