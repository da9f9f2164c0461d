/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer posts and polls. */
#include "providers/core/thread.h"
#include "providers/bond/progress.h"
#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"
#include "providers/bond/transfer/transfer.h"

#define IDLE_EVENTS 32
#define SELDOM      8 /* polls */

DAT_RETURN bond_post(struct core_ep *ep, const struct core_dto *dto)
{
    struct bond_ia *b = bond_ia(ep->o.ia);
    int state = bond_cancel_off(b);
    pthread_mutex_lock(&b->lock);
    core_ep_lock(ep);
    struct bond_conn *c = ep->tp;
    bool open = c && c->state == BOND_CONNECTED && !atomic_load(&c->aborted);
    struct core_request *r = core_request_queue(ep, dto);
    struct bond_request *q = r->tp;
    q->remote_address = dto->remote_address;
    q->remote_key = dto->remote_key;
    q->operand = dto->operand;
    q->compare = dto->compare;
    if (open) {
        bond_issue_locked(c);
    } else {
        r->done = true;
        r->status = DAT_DTO_ERR_FLUSHED;
        core_requests_retire(ep);
    }
    core_ep_unlock(ep);
    if (open && bond_waits(c) && c->lead < BOND_NONE)
        bond_drain(&b->member[c->lead]); /* there may be room again */
    pthread_mutex_unlock(&b->lock);
    bond_cancel_as(b, state);
    return DAT_SUCCESS;
}

/* A member that brings nothing while others do is polled seldom: a poll of it
 * takes as long as one of the others. */
static bool is_due(struct bond_member *m)
{
    return m->b->events - m->brought_at < IDLE_EVENTS || ++m->passed >= SELDOM;
}

static void progress(struct bond_ia *b, bool sure)
{
    for (unsigned i = 0; i < b->params.count; i++)
        if (sure || is_due(&b->member[i]))
            bond_drain(&b->member[i]);
    for (struct bond_conn *c = b->conns; c; c = c->next)
        if (c->news || atomic_load_explicit(&c->stalled, memory_order_relaxed))
            bond_deliver(c);
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
