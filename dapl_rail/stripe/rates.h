/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates at which the rails finished their parts of striped messages. */
#ifndef DRAIL_STRIPE_RATES_H
#define DRAIL_STRIPE_RATES_H

#include <stdint.h>

#include "dapl_rail/base/limits.h"

/*
 * The adaptive policy learns per size (powers of two) and mode (way of driving
 * the rails: nonthreaded, or threaded with each kind of team), as both decide
 * what is worth it. A slot is one of each.
 */
#define TIMED_SIZES 40
#define TIMED_MODES 3
#define TIMED_SLOTS (TIMED_MODES * TIMED_SIZES)

/* Parts of messages whose completions were found together. */
struct burst {
    unsigned slot;
    double before; /* rate without them, … */
    double keep;   /* … and the part of it that counts with them */
    double bytes, ns;
};

/* What is known of a rail; its thread writes it. */
struct rates {
    double rate[TIMED_SLOTS]; /* bytes/ns, smoothed; 0: not measured */
    uint64_t busy_until;      /* end of the last timed part */
    struct burst burst;
} __attribute__((aligned(CACHE_LINE)));

/* The rail has moved its part of a striped message in this time, after those
 * before. */
void rates_measure(struct rates *rates, unsigned slot, uint64_t bytes,
                   uint64_t ns);

#endif
