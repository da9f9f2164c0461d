/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that have arrived, and the receives of the consumer. b->lock is
 * held. */
#include "bond.h"

/* Copies into the segments from that place on. */
static void scatter(const struct core_wqe *w, uint64_t offset,
                    const unsigned char *from, uint64_t bytes)
{
    for (uint32_t i = 0; i < w->nseg && bytes; i++) {
        uint64_t length = w->seg[i].segment_length;
        if (offset >= length) {
            offset -= length;
            continue;
        }
        uint64_t n = length - offset < bytes ? length - offset : bytes;
        memcpy((char *)(uintptr_t)w->seg[i].virtual_address + offset, from, n);
        from += n;
        bytes -= n;
        offset = 0;
    }
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

/* Does the piece continue the message, and end it if it says so? */
static bool continues(const struct bond_conn *c, const struct bond_header *h)
{
    bool last = h->flags & BOND_LAST;
    if (h->flags & BOND_IMMED)
        return last && !c->filled && !h->bytes;
    return h->offset == c->filled && h->total >= c->filled &&
           h->bytes <= h->total - c->filled &&
           last == (h->bytes == h->total - c->filled);
}

static void give_up(struct bond_conn *c)
{
    atomic_store(&c->aborted, true);
    bond_thread_wake(c->b);
}

/* False: there is no receive for it. */
static bool take(struct bond_conn *c, const struct bond_slot *slot)
{
    const struct bond_header *h = slot->at;
    bool immed = h->flags & BOND_IMMED;
    if (!c->into)
        c->into = core_recv_peek(c->ep, &c->into_copy);
    if (!c->into)
        return false;
    if (!continues(c, h)) { /* not of a bond */
        give_up(c);
        return true;
    }
    if (!immed && h->total > c->into->total) {
        finish(c, h, DAT_DTO_ERR_LOCAL_LENGTH);
        give_up(c);
        return true;
    }
    if (!immed)
        scatter(c->into, h->offset, (const unsigned char *)(h + 1), h->bytes);
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
