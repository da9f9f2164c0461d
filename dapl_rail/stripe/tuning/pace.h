/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rail takes the next of many short messages in a row. All rails should
 * end what they have at the same time: a consumer that awaits its messages in
 * order waits for the slowest one. If a rail has completed all of its requests
 * while another rail still has earlier ones, its share grows. Pure.
 */
#ifndef DRAIL_STRIPE_PACE_H
#define DRAIL_STRIPE_PACE_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct pace {
    /* By rail: the factor of its weight. The largest is 1; 0 stands for 1. */
    double share[DRAIL_MAX_RAILS];
    /* By rail, of its latest message: the peer, the other rail that had most
     * under way to it, and the number of requests posted there by then. */
    struct {
        const void *peer; /* NULL: no other rail had anything under way */
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
