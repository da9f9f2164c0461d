/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a message for the rails of its route, by the present policy. */
#ifndef DRAIL_STRIPE_CUT_H
#define DRAIL_STRIPE_CUT_H

#include "dapl_rail/base/handle.h"
#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/stripe/tuning/route.h"

/* True for most short messages: the lowest of these rails carries all of it,
 * and no weights are needed. */
static inline bool cut_is_plain(const drail_t *t, size_t bytes, uint32_t rails)
{
    return !several_rails(rails) || (t->cfg.policy == DRAIL_POLICY_EVEN &&
                                     bytes < t->cfg.stripe_threshold);
}

/* Fills chunks and returns how many there are, or DRAIL_EINVAL. */
int cut_message(drail_t *t, size_t bytes, const struct route *route,
                drail_chunk_t chunks[DRAIL_MAX_RAILS]);
/* Cuts it over these rails, also below the stripe threshold. */
int cut_parts(const drail_t *t, uint32_t rails, size_t bytes,
              drail_chunk_t chunks[DRAIL_MAX_RAILS]);
/* short_rail() where weights are needed. */
unsigned short_rail_cut(drail_t *t, const struct route *route);
/* The rail, among these, that carries a short message. */
static inline unsigned short_rail(drail_t *t, uint32_t rails)
{
    struct route route;
    /* a message of 0 bytes is never timed */
    route_is_untimed(t, rails, 0, &route);
    return cut_is_plain(t, 0, route.rails)
               ? (unsigned)__builtin_ctz(route.rails)
               : short_rail_cut(t, &route);
}

/*
 * Short messages in a row to a peer that only untimed.spreads reach: each goes
 * whole over the rail that would be the first to end it. A message alone takes
 * short_rail(). So do messages of less than SPREAD_LEAST bytes, which cost the
 * processors more than a wire: one rail is faster, as more of them share a
 * packet.
 */
#define SPREAD_LEAST    4096u
#define SPREAD_REQUESTS 3u /* two may be a put, or a message and its answer */
/* Does such a message take part? */
static inline bool cut_spreads(const drail_t *t, uint32_t rails, size_t bytes)
{
    return several_rails(rails) && !(rails & ~t->timing->untimed.spreads) &&
           bytes >= SPREAD_LEAST;
}
/* The weights of these rails for such messages, and the slot of their rates. */
unsigned cut_whole(const drail_t *t, uint32_t rails, size_t bytes,
                   double weights[DRAIL_MAX_RAILS]);
/* The rails' present weights for a long message. */
void cut_weights(const drail_t *t, double weights[DRAIL_MAX_RAILS]);

#endif
