/* SPDX-License-Identifier: BSD-3-Clause */
/* The present policy: how a message is cut. */
#ifndef DRAIL_STRIPE_WEIGHTS_H
#define DRAIL_STRIPE_WEIGHTS_H

#include "dapl_rail/base/handle.h"
#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/stripe/tuning/way.h"

/* Nothing is weighed for most short messages: the lowest of these rails carries
 * them whole. */
static inline bool cut_is_plain(const drail_t *t, size_t bytes, uint32_t rails)
{
    return !several_rails(rails) || (t->cfg.policy == DRAIL_POLICY_EVEN &&
                                     bytes < t->cfg.stripe_threshold);
}

/* Cuts a message for the rails that it may use, by the present policy. */
int cut(drail_t *t, size_t bytes, const struct way *way,
        drail_chunk_t chunks[DRAIL_MAX_RAILS]);
/* Of these rails the one that a short message takes. */
unsigned short_rail(drail_t *t, uint32_t reach);
/* Weights of the rails for a long message by the present policy. */
void weights_now(const drail_t *t, double weights[DRAIL_MAX_RAILS]);

#endif
