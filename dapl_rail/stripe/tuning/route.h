/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The route of a message: which rails may carry it, and whether a thread drives
 * each of them. The settings say so, or, with engine auto or policy adaptive,
 * what has been learnt from earlier messages. The files, from caller to callee:
 *
 *     operations ask for a route, cut the message, and time it:
 *         route.h       which rails may carry this message
 *         cut.h         how many bytes each of them gets: drail_stripe()
 *                       with weights from the settings or from rail_rate.h
 *         waterfill.h   the same while rails still carry earlier messages
 *         timing.h      messages under way that are timed
 *         pace.h        the rail of a short message in a row
 *     and the times teach:
 *         rail_rate.h   the rate of one rail
 *         tuners.h      the tuner for messages of one size
 *         tuner.h       which set of rails is the fastest, and when to try
 *         comparison.h  compares sets of rails by taking turns
 */
#ifndef DRAIL_STRIPE_ROUTE_H
#define DRAIL_STRIPE_ROUTE_H

#include "dapl_rail/base/handle.h"
#include "dapl_rail/stripe/tuning/timing.h"

struct route {
    uint32_t rails;      /* that may carry the message */
    bool threads;        /* a thread drives each rail that carries a part */
    bool timed;          /* this message is to be timed */
    uint32_t set;        /* rails and threads, as tuner.h has them */
    unsigned slot;       /* of the rails' rates, see rail_rate.h */
    struct tuner *tuner; /* that has chosen; NULL: the settings have */
};

/* Call it when the settings have changed, or something has been measured. */
void route_settle(drail_t *t);
/* As route_of() and route_next(), for messages that may be timed. */
struct route route_of_long(const drail_t *t, bool reads, size_t bytes);
struct route route_next_long(drail_t *t, bool reads, size_t bytes,
                             unsigned messages);
/* The route of the long messages of late. */
struct route route_lately(const drail_t *t);
/* Over these rails, by the settings alone. For peers that only these rails
 * reach: tuners compare sets of t->measured. */
struct route route_within(const drail_t *t, uint32_t rails);

/* Sets *route. True if the message is never timed, and *route is final. Inline,
 * for short messages. */
static inline bool route_is_untimed(const drail_t *t, uint32_t rails,
                                    size_t bytes, struct route *route)
{
    const struct untimed *untimed = &t->timing->untimed;
    if (rails != t->measured) {
        *route = route_within(t, rails);
        return true;
    }
    route->rails = untimed->rails;
    route->threads = untimed->threads;
    route->timed = false;
    route->slot = untimed->slot;
    route->set = untimed->rails;
    route->tuner = NULL;
    return bytes < untimed->below;
}

/* The route of a message of so many bytes, an RDMA read or write, to a peer
 * that these rails reach, if it started now. */
static inline struct route route_of(const drail_t *t, uint32_t rails,
                                    bool reads, size_t bytes)
{
    struct route route;
    return route_is_untimed(t, rails, bytes, &route)
               ? route
               : route_of_long(t, reads, bytes);
}

/* The route of so many messages that do start now. */
static inline struct route route_next(drail_t *t, uint32_t rails, bool reads,
                                      size_t bytes, unsigned messages)
{
    struct route route;
    return route_is_untimed(t, rails, bytes, &route)
               ? route
               : route_next_long(t, reads, bytes, messages);
}

#endif
