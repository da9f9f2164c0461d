/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/stripe/spread.h"

uint32_t spread_over_several(const drail_t *t, size_t bytes,
                             const drail_chunk_t *chunks, int n, unsigned *turn)
{
    unsigned eps = t->cfg.eps;
    bool striped = bytes >= t->cfg.stripe_threshold;
    for (int i = 0; i < n; i++) /* no EP gets 0 bytes */
        striped = striped && chunks[i].bytes >= eps;
    return striped ? EP_BIT(eps) - 1 : EP_BIT((*turn)++ % eps);
}

drail_chunk_t spread_cut(const drail_t *t, const drail_chunk_t *chunk,
                         unsigned ep)
{
    drail_chunk_t parts[DRAIL_MAX_RAILS];
    drail_stripe_t even = {.policy = DRAIL_POLICY_EVEN, .nrails = t->cfg.eps};
    drail_stripe(&even, chunk->bytes, parts);
    return (drail_chunk_t){.rail = chunk->rail,
                           .offset = chunk->offset + parts[ep].offset,
                           .bytes = parts[ep].bytes};
}
