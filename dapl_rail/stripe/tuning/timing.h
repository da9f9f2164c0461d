/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are timed, for engine auto and policy adaptive. */
#ifndef DRAIL_STRIPE_TIMING_H
#define DRAIL_STRIPE_TIMING_H

#include <stdatomic.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/stripe/tuning/pace.h"
#include "dapl_rail/stripe/tuning/tuner.h"
#include "dapl_rail/stripe/tuning/rail_rate.h"

struct route;

/* A message under way that is timed; striped or whole. */
struct timed_message {
    _Atomic uint64_t end_ns;  /* 0: not complete */
    _Atomic uint32_t pending; /* rails whose part is not complete */
    _Atomic bool failed;
    bool gap; /* messages before it, still under way then, were not timed */
    struct tuner *tuner;
    uint32_t set;    /* rails and threads, as tuner.h has them */
    uint32_t learns; /* rails whose rates it teaches, … */
    unsigned slot;   /* … in this slot */
    uint64_t start_ns;
    uint64_t bytes;
    uint64_t part[DRAIL_MAX_RAILS]; /* bytes */
    uint8_t left[DRAIL_MAX_RAILS];  /* EPs whose part is not complete */
} __attribute__((aligned(CACHE_LINE)));

#define TIMED_MESSAGES 256u /* under way at once; more are not timed */

/* Besides the size, a tuner depends on the mode of the engine or, with engine
 * auto, on the policy (even, weighted, adaptive). */
#define TIMED_KINDS (TIMED_MODES + DRAIL_POLICY_ADAPTIVE + 1)

/* The route of messages that are never timed; see route_settle(). */
struct untimed {
    size_t below;   /* of all that are shorter than this */
    uint32_t rails; /* as in struct route */
    bool threads;
    unsigned slot;
    uint32_t spreads; /* rails that share short ones: cut.h */
};

/* Most tuners are never used: their pages are never touched. */
struct timing {
    struct rail_rate rails[DRAIL_MAX_RAILS];
    /* of writes and reads. A tuner begins with its first message, … */
    struct tuner tuners[2][TIMED_KINDS][TIMED_SIZES];
    unsigned begun[TIMED_KINDS]; /* … and anew when this number changes */
    struct timed_message ring[TIMED_MESSAGES];
    uint32_t head, tail; /* messages started, and harvested */
    bool gap;            /* a message that is not timed may be under way */
    unsigned awake;      /* see AWAKE in route.c */
    uint64_t frontier;   /* latest end of the harvested ones */
    unsigned latest[TIMED_KINDS]; /* size of the last message; 0: none */
    bool several_cores;           /* when the transport was opened */
    drail_team_t team;            /* auto: the team that was measured, … */
    bool no_threads;              /* … or can't be had */
    struct untimed untimed;
    struct pace pace;
};

/* 0 or DRAIL_ENOMEM. Then tuners_begin(), once t->measured is known. */
int timing_open(drail_t *t);
void timing_close(drail_t *t);
/* Rails whose rates a message over this route teaches. */
uint32_t timing_learns(const drail_t *t, const struct route *route);
/* Tells the tuners of the messages that have completed. */
void timing_harvest(drail_t *t);
/* Bytes of timed messages that are not yet complete. */
uint64_t timing_under_way(const drail_t *t);
/* A message of n parts, each over so many EPs, starts. NULL: too many are under
 * way, so it is not timed. */
struct timed_message *timing_start(drail_t *t, const struct route *route,
                                   const drail_chunk_t *parts, int n,
                                   unsigned eps, uint64_t start_ns);
/* A part is complete, or has failed; called in the rail's thread. */
void timing_part(drail_t *t, unsigned rail, struct timed_message *m,
                 uint64_t start_ns, uint64_t bytes, bool ok);
/* The message could not be started; no operation refers to it. */
void timing_abandon(drail_t *t, struct timed_message *m);
/* A blocking operation of several messages has been timed as a whole. */
void timing_batch(drail_t *t, struct tuner *tuner, uint32_t set,
                  unsigned messages, uint64_t bytes, uint64_t start_ns);

#endif
