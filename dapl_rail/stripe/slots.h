/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rail keeps of the rates that were measured on it. */
#ifndef DRAIL_STRIPE_SLOTS_H
#define DRAIL_STRIPE_SLOTS_H

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

#endif
