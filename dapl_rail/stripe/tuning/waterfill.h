/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a message for rails that still carry parts of earlier ones, so that all
 * rails end at the same time (water-filling). Pure. */
#ifndef DRAIL_STRIPE_WATERFILL_H
#define DRAIL_STRIPE_WATERFILL_H

/* The smallest part of a message that a rail gets, if it gets any. */
#define WATERFILL_LEAST 0.03125

/*
 * rates: of n rails, in bytes per any unit of time; 0: not to be used. backlog:
 * bytes that each rail still carries. parts: becomes the bytes of each rail's
 * part; may be the same array as rates. A rail that would end later than the
 * others even without a part gets none.
 */
void waterfill(unsigned n, const double *rates, const double *backlog,
               double bytes, double *parts);

#endif
