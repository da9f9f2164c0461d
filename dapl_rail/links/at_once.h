/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes that are complete when they are posted, where the provider offers
 * that. They take no place in the queue: nobody waits for them, and no replay
 * has to repeat them.
 */
#ifndef DRAIL_LINKS_AT_ONCE_H
#define DRAIL_LINKS_AT_ONCE_H

#include "dapl_rail/links/link.h"
#include "dapl_rail/rails/rail.h"
#include "providers/core/extensions.h"

/* False: nothing is written, and a request must be posted. */
static inline bool dto_write_direct(const struct link *link,
                                    const struct dto *d)
{
    const struct dapl_direct *direct = link->rail->direct;
    return direct &&
           direct->write(link->ep.handle,
                         (const void *)(uintptr_t)d->local.virtual_address,
                         d->local.segment_length, d->remote.rmr_context,
                         d->remote.virtual_address);
}

/* The same, and completes the request. The provider writes at once only if all
 * earlier requests of the EP have been carried out: a replay leaves their bytes
 * out, and so does not write over these. False also unless the link is up; and
 * with a completion, while an earlier one is due: completions come in order.
 * Inlined: each put passes here. */
static inline bool write_at_once(struct link *link, const struct dto *d,
                                 const struct completion *done)
{
    struct queue *q = &link->queue;
    if (link->state != LINK_UP || d->verb != VERB_WRITE ||
        (done && q->ops_head != q->ops_tail) || !dto_write_direct(link, d))
        return false;
    q->at_once++;
    q->placed = q->posted;
    if (done && done->ended)
        done->ended(link, done, 0);
    return true;
}

#endif
