/* SPDX-License-Identifier: BSD-3-Clause */
/* One link's part of a transfer, as RDMA writes or reads. */
#ifndef DRAIL_LINKS_RDMA_H
#define DRAIL_LINKS_RDMA_H

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/memory/region.h"

struct rdma {
    struct link *link;
    struct dto dto; /* all of it, if the rail can do so much in one */
    size_t bytes, most;
    size_t posted; /* bytes, in the middle of it */
    bool told;     /* the peer waits for it, and hears of each part */
};

/* What is long goes in parts, each with an event: that it goes on is seen. */
#define PARTS      16u
#define PART_LEAST ((size_t)8 << 20)

/* Most bytes of a DTO where there are so many in all. */
static inline size_t rdma_most(const struct rail *rail, size_t bytes)
{
    size_t part = bytes / PARTS & ~(size_t)4095;
    if (part < PART_LEAST)
        part = PART_LEAST;
    return part < rail->max_rdma ? part : rail->max_rdma;
}

/* Inline as of each put. */
static inline void rdma_init(struct rdma *r, struct link *link, enum verb verb,
                             const drail_xfer_t *x, const drail_chunk_t *part)
{
    unsigned rail = link->rail->index;
    r->link = link;
    r->bytes = part->bytes;
    r->most = rdma_most(link->rail, part->bytes);
    r->posted = 0;
    r->told = false;
    r->dto.verb = verb;
    r->dto.region = x->local_mem ? x->local_mem->region : NULL;
    r->dto.rmr = x->remote ? x->remote->rmr_context : NULL;
    r->dto.local = (DAT_LMR_TRIPLET){
        .lmr_context =
            x->local_mem ? x->local_mem->region->lmr_context[rail] : 0,
        .virtual_address = (uintptr_t)x->local + part->offset,
        .segment_length = (DAT_SEG_LENGTH)part->bytes,
    };
    r->dto.remote = (DAT_RMR_TRIPLET){
        .rmr_context = x->remote ? x->remote->rmr_context[rail] : 0,
        .virtual_address = (x->remote ? x->remote->address : 0) +
                           x->remote_offset + part->offset,
        .segment_length = (DAT_SEG_LENGTH)part->bytes,
    };
}

/* As rdma_post, where it takes more than the DTO. */
int rdma_post_several(struct rdma *r, const struct completion *done,
                      const uint32_t *immed);

/* Posts it, or what is left of it, the last DTO with done and, unless it is
 * NULL, with immediate data (link_write_immed). 0: all is posted, and may be
 * posted again. DRAIL_EAGAIN: there was no room for all. */
static inline int rdma_post(struct rdma *r, const struct completion *done,
                            const uint32_t *immed)
{
    return r->bytes > r->most || immed ? rdma_post_several(r, done, immed)
                                       : link_post(r->link, &r->dto, done);
}

#endif
