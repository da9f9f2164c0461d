/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/stripe/spread.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"

uint32_t spread_over(const drail_t *t, size_t bytes,
                     const drail_chunk_t *chunks, int n, unsigned *turn)
{
    unsigned eps = t->cfg.eps;
    bool striped = bytes >= t->cfg.stripe_threshold;
    if (eps == 1)
        return EP_BIT(0);
    for (int i = 0; i < n; i++) /* nothing for some of them */
        striped = striped && chunks[i].bytes >= eps;
    return striped ? EP_BIT(eps) - 1 : EP_BIT((*turn)++ % eps);
}

drail_chunk_t spread_part(const drail_t *t, const drail_chunk_t *chunk,
                          uint32_t eps, unsigned ep)
{
    drail_chunk_t parts[DRAIL_MAX_RAILS];
    drail_stripe_t even = {.policy = DRAIL_POLICY_EVEN, .nrails = t->cfg.eps};
    if (!(eps & (eps - 1)))
        return *chunk;
    drail_stripe(&even, chunk->bytes, parts);
    return (drail_chunk_t){.rail = chunk->rail,
                           .offset = chunk->offset + parts[ep].offset,
                           .bytes = parts[ep].bytes};
}
