/* SPDX-License-Identifier: BSD-3-Clause */
/* Another EP for a link that is lost, now and then tried by the active side. */
#ifndef DRAIL_LINKS_RENEW_H
#define DRAIL_LINKS_RENEW_H

#include <stdbool.h>

#include <dat2/udat.h>

struct hello;
struct link;
struct peer;
struct rail;

/* Tries it if it is time. */
void renew_serve(struct link *link);
/* Passive side: the request has been accepted; the other side has its time to
 * confirm that. */
void renew_await(struct link *link);
/* Passive side: accepts the request for one. False: it is to be rejected. */
bool renew_accept(struct rail *rail, DAT_CR_HANDLE cr, struct peer *peer,
                  const struct hello *hello);

#endif
