/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves messages that have arrived into the consumer's receives. b->lock is
 * held. */
#include "providers/core/segments.h"

#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"

/* Copies a piece to its place in the receive. */
static void place(const struct core_wqe *w, const struct bond_header *h)
{
    DAT_LMR_TRIPLET part[CORE_MAX_IOV];
    uint32_t n = core_slice(w->nseg, w->seg, h->offset, h->bytes, part);
    core_scatter(n, part, h + 1, h->bytes);
}

static void finish(struct bond_conn *c, const struct bond_header *h,
                   DAT_DTO_COMPLETION_STATUS status)
{
    struct core_wqe *w = c->into;
    c->into = NULL;
    c->filled = 0;
    core_recv_done(c->ep, w, status, status ? 0 : h->total,
                   status || h->flags & BOND_SOLICITED,
                   h->flags & BOND_IMMED ? &h->immed : NULL);
}

/* Does the piece follow the pieces before it? And is it the last one if, and
 * only if, its flags say so? */
static bool continues(const struct bond_conn *c, const struct bond_header *h)
{
    bool last = h->flags & BOND_LAST;
    if (h->flags & BOND_IMMED)
        return last && !c->filled && !h->bytes;
    return h->offset == c->filled && h->total >= c->filled &&
           h->bytes <= h->total - c->filled &&
           last == (h->bytes == h->total - c->filled);
}

/* Moves a piece into the consumer's receive, or carries out an atomic. False:
 * there is no receive, or an earlier atomic was refused: then the peer ends the
 * connection. */
static bool take(struct bond_conn *c, const struct bond_slot *slot)
{
    const struct bond_header *h = slot->at;
    bool immed = h->flags & BOND_IMMED;
    if (c->answers.refused)
        return false;
    if (h->kind == BOND_ATOMIC) {
        bond_atomic_execute(c, h);
        return true;
    }
    if (!c->into)
        c->into = core_recv_peek(c->ep, &c->into_copy);
    if (!c->into)
        return false;
    if (!continues(c, h)) { /* the peer is no bond */
        bond_give_up(c);
        return true;
    }
    if (!immed && h->total > c->into->total) {
        finish(c, h, DAT_DTO_ERR_LOCAL_LENGTH);
        bond_give_up(c);
        return true;
    }
    place(c->into, h);
    c->filled += h->bytes;
    if (h->flags & BOND_LAST)
        finish(c, h, DAT_DTO_SUCCESS);
    return true;
}

void bond_deliver(struct bond_conn *c)
{
    if (!c->ep || c->state < BOND_CONNECTED || c->state == BOND_CLOSED)
        return;
    struct bond_slot *slot;
    core_ep_lock(c->ep);
    while ((slot = c->waiting) && !atomic_load(&c->aborted) && take(c, slot)) {
        if (!atomic_load(&c->aborted))
            c->delivered = slot->at->number + 1;
        c->news = c->news || slot->at->flags & BOND_ASK;
        c->waiting = slot->next;
        if (!c->waiting)
            c->waiting_end = &c->waiting;
        bond_slot_done(slot);
    }
    atomic_store(&c->stalled, c->waiting != NULL);
    core_ep_unlock(c->ep);
    bond_news_send(c);
}

void bond_deliver_end(struct bond_conn *c)
{
    struct bond_slot *slot;
    while ((slot = c->waiting)) {
        c->waiting = slot->next;
        if (!slot->receive.link)
            bond_slot_done(slot);
    }
    c->waiting_end = &c->waiting;
    if (c->into && c->ep && c->ep->srq) {
        core_ep_lock(c->ep);
        core_recv_done(c->ep, c->into, DAT_DTO_ERR_FLUSHED, 0, true, NULL);
        core_ep_unlock(c->ep);
    }
    c->into = NULL;
}
