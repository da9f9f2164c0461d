/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lower rank connects: a higher one that wants a connection asks it to, by
 * a request that is always rejected. It asks over one rail after the other
 * until the peer answers.
 */
#ifndef DRAIL_LINKS_CONNECT_SOLICIT_H
#define DRAIL_LINKS_CONNECT_SOLICIT_H

#include <stdbool.h>

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

struct peer;
struct rail;

/* Knocks if it is time: soon after the first call, for mostly the peer comes by
 * itself, and again some time after each answer. 0 or an error. */
int knock(struct peer *peer);
/* One that has not been answered for long is taken for lost, and will be
 * repeated: its EP is gone. False: there is none such. */
bool knock_expire(struct peer *peer);
/* It is not needed any more. */
void knock_end(struct peer *peer);
/* A connection event of an EP that is no link's, and what it says: is it the
 * answer? */
void knock_answered(struct rail *rail, const DAT_EVENT *event,
                    const char *text);
/* Passive side: rejects it, so that the peer knows who has heard it. */
void knock_answer(const struct rail *rail, DAT_CR_HANDLE cr);

#endif
