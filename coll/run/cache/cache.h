/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that a team keeps for later calls with the same arguments. All
 * ranks make the same calls in the same order, and what is decided here depends
 * on nothing else: all find the same one, and drop the same ones.
 */
#ifndef DCOLL_KEPT_H
#define DCOLL_KEPT_H

#include "coll/run/request.h"

/* Equal calls of dcoll_begin that may be under way at the same time. */
#define ROTATION 4u

/* Of blocking calls. NULL: there is none. */
dcoll_request_t *cache_find(dcoll_team_t *team, const dcoll_args_t *args,
                            const dcoll_algorithm_t *algorithm);
/* Of dcoll_begin, whose equal calls take turns on a few: the one whose turn it
 * is. NULL: there are not so many. */
dcoll_request_t *cache_take_next(dcoll_team_t *team, const dcoll_args_t *args,
                                 const dcoll_algorithm_t *algorithm);
/* The same, which does not count as a use. */
dcoll_request_t *cache_peek_next(dcoll_team_t *team, const dcoll_args_t *args,
                                 const dcoll_algorithm_t *algorithm);
/* Of the latest blocking call of its collective, if that was the same one, with
 * the same buffers: it is bound to them. NULL: there is none. */
dcoll_request_t *cache_repeat(dcoll_team_t *team, const dcoll_call_t *call);
/* The call has been made by @q, which goes on to be bound to its buffers unless
 * a rail knows them. */
void cache_remember(dcoll_request_t *q, const dcoll_call_t *call);
/* Drops what is too much, least recently used first, but not the latest. For
 * when one has been prepared: then all ranks have completed all that they had
 * started, and nobody writes into what is dropped. */
void cache_trim(dcoll_team_t *team);
/* The caller has ended a request that he got from dcoll_begin. An error: a peer
 * is inside his buffers. */
int cache_return(dcoll_request_t *q);

#endif
