/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rail takes the next of many short messages in a row. All rails should
 * end what they have at the same time: a consumer that awaits its messages in
 * order waits for the slowest one. A rail that has completed all, while another
 * rail has yet to complete what it got before, deserves a larger share. Pure.
 */
#ifndef DRAIL_STRIPE_PACE_H
#define DRAIL_STRIPE_PACE_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct pace {
    double share[DRAIL_MAX_RAILS]; /* in proportion; 0: the largest, too */
    /* When the rail last got a message: to which peer, and what another rail
     * had got by then. */
    struct {
        const void *peer; /* NULL: no other had anything under way */
        unsigned other;
        uint64_t posted;
    } latest[DRAIL_MAX_RAILS];
};

/* The rail that ends first if it gets one more message of the same length. */
unsigned soonest_rail(unsigned nrails, const double *weights,
                      const uint64_t *under_way);
/* posted, complete: requests on each rail to the peer. weights: of the rails,
 * by the policy; 0: not to be used. */
unsigned pace_pick(struct pace *p, const void *peer, unsigned nrails,
                   const double *weights, const uint64_t *posted,
                   const uint64_t *complete);

#endif
