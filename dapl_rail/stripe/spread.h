/* SPDX-License-Identifier: BSD-3-Clause */
/* Spreads the parts of a message over the EPs of their rails (cfg.eps). Inline:
 * mostly there is one EP. */
#ifndef DRAIL_STRIPE_SPREAD_H
#define DRAIL_STRIPE_SPREAD_H

#include <stdint.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"

uint32_t spread_over_several(const drail_t *t, size_t bytes,
                             const drail_chunk_t *chunks, int n,
                             unsigned *turn);
drail_chunk_t spread_cut(const drail_t *t, const drail_chunk_t *chunk,
                         unsigned ep);

/* The EPs of each rail that carry a message, as bits: all if it is striped,
 * else the next in turn. */
static inline uint32_t spread_over(const drail_t *t, size_t bytes,
                                   const drail_chunk_t *chunks, int n,
                                   unsigned *turn)
{
    return t->cfg.eps == 1 ? EP_BIT(0)
                           : spread_over_several(t, bytes, chunks, n, turn);
}

/* The part of a rail's chunk that EP ep carries, of these eps: the chunk
 * itself, or *part. */
static inline const drail_chunk_t *spread_part(const drail_t *t,
                                               const drail_chunk_t *chunk,
                                               uint32_t eps, unsigned ep,
                                               drail_chunk_t *part)
{
    if (!(eps & (eps - 1)))
        return chunk;
    *part = spread_cut(t, chunk, ep);
    return part;
}

#endif
