/* SPDX-License-Identifier: BSD-3-Clause */
/* An RDMA write or read of any length on one link, as one or more DTOs. */
#ifndef DRAIL_LINKS_RDMA_H
#define DRAIL_LINKS_RDMA_H

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/links/at_once.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/memory/region.h"

struct rdma {
    struct link *link;
    struct dto dto;     /* as if it were one DTO */
    size_t bytes, most; /* length, and the most of one DTO */
    size_t posted;      /* bytes, if there was no room for all */
    bool reports; /* sends WIRE_PROGRESS after each part: the peer waits */
};

/* A long transfer has parts, each with an event: their completion shows that
 * the wire works. */
#define PARTS      16u
#define PART_LEAST ((size_t)8 << 20)

/* The most bytes of a DTO of a transfer of so many bytes. */
static inline size_t rdma_most(const struct rail *rail, size_t bytes)
{
    size_t part = bytes / PARTS & ~(size_t)4095;
    if (part < PART_LEAST)
        part = PART_LEAST;
    return part < rail->max_rdma ? part : rail->max_rdma;
}

/* Inlined: each put passes here. */
static inline void rdma_init(struct rdma *r, struct link *link, enum verb verb,
                             const drail_xfer_t *x, const drail_chunk_t *part)
{
    unsigned rail = link->rail->index;
    r->link = link;
    r->bytes = part->bytes;
    r->most = rdma_most(link->rail, part->bytes);
    r->posted = 0;
    r->reports = false;
    r->dto.verb = verb;
    r->dto.gather = NULL;
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

/* The rest of rdma_post(): several DTOs, or immediate data. */
int rdma_post_several(struct rdma *r, const struct completion *done,
                      const uint32_t *immed);

/* Posts it, or what is left of it: the last DTO with done and, unless immed is
 * NULL, with immediate data (link_write_immed). 0: all is posted; the next call
 * posts it again. DRAIL_EAGAIN: there was no room for all; the next call posts
 * the rest. */
static inline int rdma_post(struct rdma *r, const struct completion *done,
                            const uint32_t *immed)
{
    if (r->bytes > r->most || immed)
        return rdma_post_several(r, done, immed);
    return write_at_once(r->link, &r->dto, done)
               ? 0
               : link_post(r->link, &r->dto, done);
}

#endif
