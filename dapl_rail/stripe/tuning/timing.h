/* SPDX-License-Identifier: BSD-3-Clause */
/* What engine auto and policy adaptive learn from: messages that are timed. */
#ifndef DRAIL_STRIPE_TIMING_H
#define DRAIL_STRIPE_TIMING_H

#include <stdatomic.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/stripe/tuning/tuner.h"
#include "dapl_rail/stripe/tuning/rail_rate.h"

struct way;

/* A striped or whole message under way that is timed. */
struct message {
    _Atomic uint64_t end_ns;  /* 0: not complete */
    _Atomic uint32_t pending; /* rails whose part is not complete */
    _Atomic bool failed;
    bool gap; /* some before it, under way when it began, were not timed */
    struct choice *choice;
    uint32_t set;    /* what the choice has said */
    uint32_t learns; /* rails whose rate it tells, … */
    unsigned slot;   /* … and of what */
    uint64_t start_ns;
    uint64_t bytes;
    uint64_t part[DRAIL_MAX_RAILS]; /* bytes */
    uint8_t left[DRAIL_MAX_RAILS];  /* EPs whose part is not complete */
} __attribute__((aligned(CACHE_LINE)));

#define TIMED_MESSAGES 256u /* under way at once; more are not timed */

/* What a choice depends on beside the size: the mode of an engine, or, of
 * auto, the policy (the first three of them). */
#define TIMED_KINDS (TIMED_MODES + DRAIL_POLICY_ADAPTIVE + 1)

/* How messages that are never timed go; see way_settle. */
struct brief {
    size_t below;   /* they are shorter than this */
    uint32_t rails; /* as in struct way */
    bool threads;
    unsigned slot;
};

/* Most sizes and kinds are never met: their pages are never touched. */
struct timing {
    struct rates rails[DRAIL_MAX_RAILS];
    /* of writes, reads; begun when they are met, … */
    struct choice choices[2][TIMED_KINDS][TIMED_SIZES];
    unsigned begun[TIMED_KINDS]; /* … and anew when this has changed */
    struct message ring[TIMED_MESSAGES];
    uint32_t head, tail; /* started, and looked at */
    bool gap;            /* one that may be under way is not among them */
    unsigned awake;      /* see way.c */
    uint64_t frontier;   /* latest end of those looked at */
    unsigned latest[TIMED_KINDS]; /* size striped last, 0: none */
    bool several_cores;           /* when the transport was opened */
    bool no_threads;              /* auto: this team is not to be had, … */
    drail_team_t team;            /* … of which it knows the times */
    struct brief brief;
};

int timing_open(drail_t *t);
void timing_close(drail_t *t);
/* Once t->measured is known. */
void timing_begin(drail_t *t);
/* The weights of policy weighted have changed. */
void timing_reset(drail_t *t);
/* Auto is to use the present team: if that is another, it begins anew. */
void timing_team(drail_t *t);
/* Auto's team is not to be had: it begins anew without threads. */
void timing_without_threads(drail_t *t);
/* Are rails chosen by what has been measured? */
bool timing_applies(const drail_t *t);
/* Messages of so many bytes are held to be alike. */
unsigned timing_size(size_t bytes);
/* For this size, with the present settings. */
struct choice *timing_choice(const drail_t *t, bool reads, unsigned size);
/* For this size, driven so. */
unsigned timing_slot(const drail_t *t, bool threads, unsigned size);
/* A message of this size, which may be striped, starts: if it is the first,
 * what is known of sizes nearby says how. */
void timing_used(drail_t *t, bool reads, unsigned size);
/* The size that says most about long messages now. */
unsigned timing_latest(const drail_t *t);
/* Rails whose rates are learnt from a message that goes this way. */
uint32_t timing_learns(const drail_t *t, const struct way *way);
/* Looks at the messages that have completed. */
void timing_harvest(drail_t *t);
/* Bytes of timed messages that have yet to complete. */
uint64_t timing_under_way(const drail_t *t);
/* A message of these n parts over so many EPs each starts; NULL: it can't be
 * timed. */
struct message *timing_start(drail_t *t, const struct way *way,
                             const drail_chunk_t *parts, int n, unsigned eps,
                             uint64_t start_ns);
/* A rail's part is complete; in the rail's thread. */
void timing_part(drail_t *t, unsigned rail, struct message *m,
                 uint64_t start_ns, uint64_t bytes, bool ok);
/* The message's start has failed, no op has it any more. */
void timing_abandon(drail_t *t, struct message *m);
/* A blocking operation of several messages has been timed as a whole. */
void timing_batch(drail_t *t, struct choice *choice, uint32_t set,
                  unsigned messages, uint64_t bytes, uint64_t start_ns);

#endif
