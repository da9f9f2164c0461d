/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rails a message may use, and who drives them. */
#ifndef DRAIL_STRIPE_WAY_H
#define DRAIL_STRIPE_WAY_H

#include "dapl_rail/base/handle.h"
#include "dapl_rail/stripe/tuning/timing.h"

struct way {
    uint32_t rails;        /* that may carry the message: the policy cuts it */
    bool threads;          /* a thread drives each of those that carry a part */
    bool timed;            /* this message is to be timed */
    uint32_t set;          /* the same as choose.h says it */
    unsigned slot;         /* of the rails' rates */
    struct choice *choice; /* that has said so; NULL: the settings did */
};

/* The settings have changed, or something has been measured. */
void way_settle(drail_t *t);
/* Of messages that may be timed. */
struct way way_of_long(const drail_t *t, bool reads, size_t bytes);
struct way way_next_long(drail_t *t, bool reads, size_t bytes,
                         unsigned messages);
/* Of the long messages of late. */
struct way way_lately(const drail_t *t);

/* Over these rails, as the settings say it: ways are measured and compared over
 * t->measured, to peers whom just these reach. */
struct way way_within(const drail_t *t, uint32_t rails);

/* Inline as of all messages, short ones wait for it most. */
static inline bool way_is_brief(const drail_t *t, uint32_t rails, size_t bytes,
                                struct way *way)
{
    const struct brief *brief = &t->timing->brief;
    if (rails != t->measured) {
        *way = way_within(t, rails);
        return true;
    }
    way->rails = brief->rails;
    way->threads = brief->threads;
    way->timed = false;
    way->slot = brief->slot;
    way->set = brief->rails;
    way->choice = NULL;
    return bytes < brief->below;
}

/* Of a message of so many bytes to whom these rails reach, an RDMA read or a
 * write, if it started now. */
static inline struct way way_of(const drail_t *t, uint32_t rails, bool reads,
                                size_t bytes)
{
    struct way way;
    return way_is_brief(t, rails, bytes, &way) ? way
                                               : way_of_long(t, reads, bytes);
}

/* Of so many messages that do start now. */
static inline struct way way_next(drail_t *t, uint32_t rails, bool reads,
                                  size_t bytes, unsigned messages)
{
    struct way way;
    return way_is_brief(t, rails, bytes, &way)
               ? way
               : way_next_long(t, reads, bytes, messages);
}

#endif
