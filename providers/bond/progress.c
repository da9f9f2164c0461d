/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer posts and polls. */
#include "providers/core/thread.h"
#include "providers/bond/progress.h"
#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"
#include "providers/bond/transfer/transfer.h"

#define SELDOM 8 /* polls */

static void queue(struct core_ep *ep, const struct core_dto *dto,
                  struct bond_conn *c)
{
    core_ep_lock(ep);
    struct core_request *r = core_request_queue(ep, dto);
    struct bond_request *q = r->tp;
    q->remote_address = dto->remote_address;
    q->remote_key = dto->remote_key;
    if (bond_is_atomic(r)) {
        q->operand = dto->operand;
        q->compare = dto->compare;
    }
    if (c) {
        bond_issue_locked(c);
    } else {
        r->done = true;
        r->status = DAT_DTO_ERR_FLUSHED;
        core_requests_retire(ep);
    }
    core_ep_unlock(ep);
    if (c && bond_waits(c) && c->lead < BOND_NONE)
        bond_drain(&c->b->member[c->lead]); /* there may be room again */
}

DAT_RETURN bond_post(struct core_ep *ep, const struct core_dto *dto)
{
    struct bond_ia *b = bond_ia(ep->o.ia);
    int state = bond_cancel_off(b);
    pthread_mutex_lock(&b->lock);
    struct bond_conn *c = ep->tp;
    if (c && (c->state != BOND_CONNECTED || atomic_load(&c->aborted)))
        c = NULL;
    if (!c || !bond_sync(c, dto))
        queue(ep, dto, c);
    pthread_mutex_unlock(&b->lock);
    bond_cancel_as(b, state);
    return DAT_SUCCESS;
}

static bool is_lead(const struct bond_member *m)
{
    return m->b->leads >> m->index & 1;
}

/* Each poll looks at the leads, and where requests are under way. It leaves the
 * other members out most of the time: to look at one takes as long as to look
 * at the lead. */
static bool is_due(struct bond_member *m)
{
    return is_lead(m) || m->requests || ++m->passed >= SELDOM;
}

static void drain(struct bond_ia *b, bool leads, bool sure)
{
    for (unsigned i = 0; i < b->params.count; i++)
        if (is_lead(&b->member[i]) == leads && (sure || is_due(&b->member[i])))
            bond_drain(&b->member[i]);
}

/* The leads come last: what they bring reaches the consumer at once. */
static void progress(struct bond_ia *b, bool sure)
{
    drain(b, false, sure);
    drain(b, true, sure);
    b->leads = 0;
    for (struct bond_conn *c = b->conns; c; c = c->next) {
        b->leads |= 1u << c->lead;
        if (c->news || atomic_load_explicit(&c->stalled, memory_order_relaxed))
            bond_deliver(c);
    }
}

void bond_progress(struct core_ia *ia, bool sure)
{
    struct bond_ia *b = bond_ia(ia);
    int state = bond_cancel_off(b);
    if (sure)
        pthread_mutex_lock(&b->lock);
    if (sure || core_lock_to_poll(&b->lock, &b->wanted)) {
        progress(b, sure);
        pthread_mutex_unlock(&b->lock);
    }
    bond_cancel_as(b, state);
}

void bond_recv_posted(struct core_ep *ep)
{
    struct bond_ia *b = bond_ia(ep->o.ia);
    int state = bond_cancel_off(b);
    pthread_mutex_lock(&b->lock);
    struct bond_conn *c = ep->tp;
    if (c && atomic_load(&c->stalled))
        bond_deliver(c);
    pthread_mutex_unlock(&b->lock);
    bond_cancel_as(b, state);
}
