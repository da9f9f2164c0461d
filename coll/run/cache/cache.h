/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that the team keeps for later calls with the same arguments. All
 * ranks make the same calls in the same order, and decisions here depend on
 * nothing else: all ranks find the same request, and drop the same ones.
 */
#ifndef DCOLL_CACHE_H
#define DCOLL_CACHE_H

#include "coll/run/request.h"

/* Equal calls of dcoll_begin that may be under way at the same time. */
#define ROTATION 4u

/* The request of a blocking call. NULL: there is none. */
dcoll_request_t *cache_find(dcoll_team_t *team, const dcoll_args_t *args,
                            const dcoll_algorithm_t *algorithm);
/* The least recently used of ROTATION equal requests for dcoll_begin. NULL:
 * there are fewer. cache_take_next counts as a use, cache_peek_next does not.
 */
dcoll_request_t *cache_take_next(dcoll_team_t *team, const dcoll_args_t *args,
                                 const dcoll_algorithm_t *algorithm);
dcoll_request_t *cache_peek_next(dcoll_team_t *team, const dcoll_args_t *args,
                                 const dcoll_algorithm_t *algorithm);
/* The request of a call that repeats one of the latest blocking calls of this
 * collective, bound to its buffers. NULL: it repeats none of them. */
dcoll_request_t *cache_repeat(dcoll_team_t *team, const dcoll_call_t *call);
/* Remembers a call for cache_repeat(), unless a rail has registered its
 * buffers. */
void cache_remember(dcoll_request_t *q, const dcoll_call_t *call);
/* Drops the least recently used requests beyond the limits, but not the latest
 * one. Call it only when a request has just been prepared: then all ranks have
 * completed all earlier starts, and no peer writes into a dropped one. */
void cache_trim(dcoll_team_t *team);
/* The caller has completed a handle of dcoll_begin(). An error: a peer still
 * accesses the buffers. */
int cache_return(dcoll_request_t *q);

#endif
