/* SPDX-License-Identifier: BSD-3-Clause */
/* When requests are complete. b->lock is held. */
#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"

void bond_give_up(struct bond_conn *c)
{
    atomic_store(&c->aborted, true);
    bond_thread_wake(c->b);
}

void bond_request_fail(struct bond_conn *c, uint64_t request,
                       DAT_DTO_COMPLETION_STATUS status)
{
    struct bond_request *q = core_request_at(c->ep, request)->tp;
    if (!q->failed)
        q->failed = status;
    bond_give_up(c);
}

void bond_requests_failed(struct core_ep *ep)
{
    core_ep_lock(ep);
    uint64_t end = atomic_load(&ep->sq_tail);
    for (uint64_t n = atomic_load(&ep->sq_head); n != end; n++) {
        struct core_request *r = core_request_at(ep, n);
        const struct bond_request *q = r->tp;
        if (r->done || !q->failed)
            continue;
        r->done = true;
        r->status = q->failed;
    }
    core_ep_unlock(ep);
}

void bond_request_look(struct bond_conn *c, uint64_t n)
{
    struct core_request *r = core_request_at(c->ep, n);
    struct bond_request *q = r->tp;
    if (!q->led || q->partial || q->under_way || r->done || q->failed)
        return;
    if (q->asks && (int32_t)(c->peer_delivered - q->number) <= 0)
        return;
    if (bond_is_atomic(r) && !q->answered)
        return;
    r->done = true;
    c->fetches -= bond_fetches(r);
}

void bond_delivered(struct bond_conn *c, uint32_t before)
{
    c->peer_delivered = before;
    if (!bond_conn_open(c))
        return;
    core_ep_lock(c->ep);
    for (uint64_t n = atomic_load(&c->ep->sq_head); n != c->next_lead; n++)
        bond_request_look(c, n);
    core_requests_retire(c->ep);
    core_ep_unlock(c->ep);
}

bool bond_waits(struct bond_conn *c)
{
    return c->next_lead != atomic_load(&c->ep->sq_tail);
}
