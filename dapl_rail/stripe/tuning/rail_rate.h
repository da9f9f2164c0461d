/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates at which the rails finished their parts of striped messages. */
#ifndef DRAIL_STRIPE_RATES_H
#define DRAIL_STRIPE_RATES_H

#include <stdbool.h>
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

/* Parts of messages that followed one another without a pause. */
struct burst {
    unsigned slot;
    bool idle;     /* nothing was under way when it began */
    double before; /* rate without them, … */
    double keep;   /* … and the part of it that counts with them */
    double bytes, ns;
};

/* What is known of a rail; its thread writes it. */
struct rates {
    double rate[TIMED_SLOTS]; /* bytes/ns, smoothed; 0: not measured */
    uint64_t busy_until;      /* end of the last timed part */
    struct burst burst;
    /* Bytes of timed messages; the caller's thread cuts them. */
    uint64_t given, done;
    uint64_t served_from; /* time since when it has carried what is not done */
} __attribute__((aligned(CACHE_LINE)));

/* The rail has moved its parts of so many striped messages in this time, after
 * those before, or, idle, with nothing before them. */
void rates_measure(struct rates *rates, unsigned slot, unsigned messages,
                   uint64_t bytes, uint64_t ns, bool idle);
/* Bytes that the rail has yet to carry, if that is its rate. */
double rates_backlog(const struct rates *rates, double rate, uint64_t now);

#endif
