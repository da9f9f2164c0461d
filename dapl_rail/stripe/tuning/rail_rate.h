/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate at which a rail finishes its parts of striped messages. */
#ifndef DRAIL_STRIPE_RAIL_RATE_H
#define DRAIL_STRIPE_RAIL_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/base/limits.h"

/* The adaptive policy learns a rate for each size (powers of two) and mode
 * (nonthreaded, or threaded with each kind of team). A slot is a size and a
 * mode. */
#define TIMED_SIZES 40
#define TIMED_MODES 3
#define TIMED_SLOTS (TIMED_MODES * TIMED_SIZES)

/* Parts of messages that followed each other without a pause. */
struct burst {
    unsigned slot;
    bool idle;     /* nothing was under way when it began */
    double before; /* rate before them, … */
    double keep;   /* … and its weight in the new rate */
    double bytes, ns;
};

/* Written by the thread of the rail. */
struct rail_rate {
    double rate[TIMED_SLOTS]; /* bytes/ns, smoothed; 0: not measured */
    uint64_t busy_until;      /* end of the last timed part */
    struct burst burst;
    /* bytes of timed messages; the caller's thread writes given */
    uint64_t given, done;
    uint64_t served_from; /* ns: since then the rail carries what is not done */
} __attribute__((aligned(CACHE_LINE)));

/* The rail has moved its parts of so many striped messages, bytes in all, in
 * ns. idle: nothing was under way before them. */
void rail_rate_measure(struct rail_rate *rates, unsigned slot,
                       unsigned messages, uint64_t bytes, uint64_t ns,
                       bool idle);
/* Bytes that the rail has still to carry now, at this rate in bytes/ns. */
double rail_rate_backlog(const struct rail_rate *rates, double rate,
                         uint64_t now);

#endif
