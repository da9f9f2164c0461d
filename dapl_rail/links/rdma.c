/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/rdma.h"

#include "dapl_rail/memory/region.h"

void rdma_init(struct rdma *r, struct link *link, enum verb verb,
               const drail_xfer_t *x, const drail_chunk_t *part)
{
    unsigned rail = link->rail->index;
    r->link = link;
    r->bytes = part->bytes;
    r->most = link->rail->max_rdma;
    r->posted = 0;
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

int rdma_post_several(struct rdma *r, const struct completion *done,
                      const uint32_t *immed)
{
    struct dto d = r->dto;
    d.local.virtual_address += r->posted;
    d.remote.virtual_address += r->posted;
    for (;;) {
        size_t left = r->bytes - r->posted;
        size_t part = left < r->most ? left : r->most;
        bool last = part == left;
        d.local.segment_length = d.remote.segment_length = (DAT_SEG_LENGTH)part;
        int rc = last && immed ? link_write_immed(r->link, &d, *immed, done)
                               : link_post(r->link, &d, last ? done : NULL);
        if (rc)
            return rc;
        if (last)
            break;
        r->posted += part;
        d.local.virtual_address += part;
        d.remote.virtual_address += part;
    }
    r->posted = 0;
    return 0;
}
