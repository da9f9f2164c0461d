/* SPDX-License-Identifier: BSD-3-Clause */
/* Room for the request that is posted next on a link. Inline: each request
 * passes here. */
#ifndef DRAIL_LINKS_ROOM_H
#define DRAIL_LINKS_ROOM_H

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/link.h"

/* False: the queue is full, or there is no memory for the journal. */
static inline bool room_make(struct link *link)
{
    struct queue *q = &link->queue;
    return q->posted != q->full_at && journal_make_room(&link->journal, q);
}

/* A provider may recycle the entries of requests without an event only when a
 * later one has an event. So one in a quarter of the queue must have it, at
 * least. */
static inline bool room_event_due(const struct link *link, bool send)
{
    const struct queue *q = &link->queue;
    return q->posted + 1 - q->signalled >= link->rail->request_depth / 4 ||
           (send && q->sent + 1 - q->sent_signalled >=
                        link->rail->owner->cfg.depth / 4);
}

#endif
