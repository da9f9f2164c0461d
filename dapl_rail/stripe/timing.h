/* SPDX-License-Identifier: BSD-3-Clause */
/* What the adaptive policy learns from: messages that are timed. */
#ifndef DRAIL_STRIPE_TIMING_H
#define DRAIL_STRIPE_TIMING_H

#include <stdatomic.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/stripe/choose.h"
#include "dapl_rail/stripe/rates.h"

/* A striped or whole message under way that is timed. */
struct message {
    _Atomic uint64_t end_ns;  /* 0: not complete */
    _Atomic uint32_t pending; /* rails whose part is not complete */
    _Atomic bool failed;
    bool gap;        /* those before it were not timed */
    uint32_t set;    /* what the choice has said */
    uint32_t learns; /* rails whose rate it tells */
    unsigned slot;
    uint64_t start_ns;
    uint64_t bytes;
    uint8_t left[DRAIL_MAX_RAILS]; /* EPs whose part is not complete */
} __attribute__((aligned(CACHE_LINE)));

#define TIMED_MESSAGES 256u /* under way at once; more are not timed */

struct timing {
    struct rates rails[DRAIL_MAX_RAILS];
    struct choice choices[TIMED_SLOTS];
    struct message ring[TIMED_MESSAGES];
    uint32_t head, tail;          /* started, and looked at */
    bool gap;                     /* there was no room for the last one */
    uint64_t frontier;            /* latest end of those looked at */
    unsigned latest[TIMED_MODES]; /* slot striped last, 0: none */
};

int timing_open(drail_t *t);
/* Is a message of so many bytes timed, that is: are its rails chosen by what
 * has been measured? */
bool timing_applies(const drail_t *t, size_t bytes);
/* For so many bytes with the present engine. */
unsigned timing_slot(const drail_t *t, size_t bytes);
/* The slot that says most about long messages now. */
unsigned timing_latest(const drail_t *t);
/* Rails whose rate is learnt from a message that goes over this set. */
uint32_t timing_learns(const drail_t *t, unsigned slot, uint32_t set,
                       uint32_t data);
/* Looks at the messages that have completed. */
void timing_harvest(drail_t *t);
/* A message over so many EPs of these rails starts; NULL: it can't be timed. */
struct message *timing_start(drail_t *t, size_t bytes, uint32_t data,
                             unsigned eps, uint64_t start_ns);
/* A rail's part is complete; in the rail's thread. */
void timing_part(drail_t *t, unsigned rail, struct message *m,
                 uint64_t start_ns, uint64_t bytes, bool ok);
/* The message's start has failed, no op has it any more. */
void timing_abandon(drail_t *t, struct message *m);
/* A blocking operation of several messages has been timed as a whole. */
void timing_batch(drail_t *t, unsigned slot, uint32_t set, unsigned messages,
                  uint64_t bytes, uint64_t start_ns);

#endif
