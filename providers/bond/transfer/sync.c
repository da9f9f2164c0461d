/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are complete when they are posted: the lead has synchronous
 * RDMA (core/extensions.h), as shared memory has. The bond need not remember
 * them: if the lead is lost later, there is nothing to repeat. b->lock is held.
 */
#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"
#include "providers/bond/transfer/transfer.h"
#include "providers/core/segments.h"

#define SYNC_MOST (4u << 20) /* bytes: meanwhile the bond is locked */

/* May it pass? Requests complete in order. */
static bool is_fit(struct bond_conn *c, const struct core_dto *dto)
{
    return (dto->op == CORE_WRITE || dto->op == CORE_READ) && dto->total &&
           dto->total <= SYNC_MOST && !core_requests_pending(c->ep) &&
           !bond_params_cut(&c->b->params, c->b->syncs, dto->total);
}

bool bond_sync(struct bond_conn *c, const struct core_dto *dto)
{
    const struct bond_link *l = bond_usable_link(c, c->lead);
    const struct bond_key *k;
    DAT_LMR_TRIPLET seg[CORE_MAX_IOV];
    if (!l || !l->m->syncs || !is_fit(c, dto))
        return false;
    k = bond_key_now(c, dto->remote_key);
    if (!k || !core_within(k->base, k->bytes, dto->remote_address, dto->total))
        return false;
    core_segments_copy(seg, dto->seg, dto->nseg);
    if (bond_range_translate(c->b, l->m->index, dto->nseg, seg))
        return false;
    DAT_RMR_TRIPLET there = {.virtual_address = dto->remote_address,
                             .segment_length = (DAT_SEG_LENGTH)dto->total,
                             .rmr_context = k->context[l->m->index]};
    DAT_RETURN ret =
        (dto->op == CORE_READ ? dat_ep_post_rdma_read : dat_ep_post_rdma_write)(
            l->ep, (DAT_COUNT)dto->nseg, seg, dto->cookie, &there,
            (DAT_COMPLETION_FLAGS)DAPL_RDMA_SYNC_FLAG);
    if (ret == DAT_SUCCESS)
        core_request_done(c->ep, dto, DAT_DTO_SUCCESS);
    return ret == DAT_SUCCESS;
}
