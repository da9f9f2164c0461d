/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests. A request has up to two parts: first its body, cut over all links
 * (body.c), then the part that goes over the lead. Two places in the EP's queue
 * tell which requests have posted their bodies, and which ones both parts.
 * b->lock is held, and ep->lock.
 */
#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"
#include "providers/bond/transfer/transfer.h"

static bool is_remote(const struct core_request *r)
{
    return r->op != CORE_SEND && r->w.total;
}

/* ------------------------------------------------------------ beginning --- */

/* Are the keys of its remote memory known, also for a lead that has changed?
 * The peer itself finds the word of an atomic. */
static bool has_keys(struct bond_conn *c, struct core_request *r, uint64_t n)
{
    struct bond_request *q = r->tp;
    bool known = q->checked &&
                 (!c->b->syncs || c->lead == BOND_NONE || q->context[c->lead]);
    if (known || !is_remote(r) || bond_is_atomic(r))
        return true;
    int found = bond_key_find(c, r);
    if (found < 0)
        bond_request_fail(c, n, DAT_DTO_ERR_REMOTE_ACCESS);
    q->checked = found > 0;
    return q->checked;
}

static bool overlap_there(const struct core_request *a,
                          const struct core_request *b)
{
    const struct bond_request *p = a->tp, *q = b->tp;
    bool writes = a->op != CORE_READ || b->op != CORE_READ;
    return is_remote(a) && is_remote(b) && writes &&
           p->remote_address < q->remote_address + b->w.total &&
           q->remote_address < p->remote_address + a->w.total;
}

static bool overlap_here(const struct core_request *a,
                         const struct core_request *b)
{
    for (uint32_t i = 0; i < a->w.nseg; i++) {
        const DAT_LMR_TRIPLET *s = &a->w.seg[i];
        for (uint32_t j = 0; j < b->w.nseg; j++) {
            const DAT_LMR_TRIPLET *t = &b->w.seg[j];
            if (s->virtual_address < t->virtual_address + t->segment_length &&
                t->virtual_address < s->virtual_address + s->segment_length)
                return true;
        }
    }
    return false;
}

/* Do they access the same remote memory, or, if one of the two reads, the same
 * local memory? */
static bool overlap(const struct core_request *a, const struct core_request *b)
{
    bool reads = a->op == CORE_READ || b->op == CORE_READ;
    return overlap_there(a, b) || (reads && overlap_here(a, b));
}

/* Would the request's body overtake an atomic (it may take a lock), or a
 * request that accesses the same memory? */
static bool conflicts(struct bond_conn *c, const struct core_request *r,
                      uint64_t n)
{
    for (uint64_t i = atomic_load(&c->ep->sq_head); i != n; i++) {
        const struct core_request *earlier = core_request_at(c->ep, i);
        if (!earlier->done && (bond_is_atomic(earlier) || overlap(earlier, r)))
            return true;
    }
    return false;
}

/* Would the request, over the lead, overtake an earlier read that uses the same
 * memory? The read's body goes over all links. And a read over the lead is done
 * again if the lead is lost: until then no later write may change the bytes. */
static bool overtakes_read(struct bond_conn *c, const struct core_request *r,
                           uint64_t n)
{
    if (!c->fetches)
        return false;
    for (uint64_t i = atomic_load(&c->ep->sq_head); i != n; i++) {
        const struct core_request *earlier = core_request_at(c->ep, i);
        const struct bond_request *q = earlier->tp;
        if (earlier->op == CORE_READ && !earlier->done &&
            (overlap_there(earlier, r) ||
             (q->body && overlap_here(earlier, r))))
            return true;
    }
    return false;
}

/* Posts the body of a request. False: not now. */
static bool begin(struct bond_conn *c, uint64_t n)
{
    struct core_request *r = core_request_at(c->ep, n);
    struct bond_request *q = r->tp;
    if (atomic_load(&c->aborted))
        return false;
    if (r->done)
        return true;
    if (q->body) /* it was cut earlier */
        return bond_body_post(c, n);
    if (c->fetches && (r->w.flags & DAT_COMPLETION_BARRIER_FENCE_FLAG))
        return false;
    if (!has_keys(c, r, n))
        return false;
    bond_body_cut(c, r);
    if (q->body && conflicts(c, r, n)) {
        q->body = 0;
        bond_link_flush(bond_usable_link(c, c->lead));
        return false;
    }
    c->fetches += bond_fetches(r);
    /* requests after a read need not wait until all of it is posted */
    return !q->body || bond_body_post(c, n) || r->op == CORE_READ;
}

/* Posts more of the reads that have begun. */
static void read_on(struct bond_conn *c)
{
    for (uint64_t n = atomic_load(&c->ep->sq_head);
         c->partial && n != c->next_body; n++) {
        const struct bond_request *q = core_request_at(c->ep, n)->tp;
        if (q->partial)
            bond_body_post(c, n);
    }
}

/* ------------------------------------------------------------- the lead --- */

/* Sends a numbered message. */
static bool send_numbered(struct bond_conn *c, struct bond_link *l, uint64_t n,
                          struct bond_header header, uint64_t offset)
{
    header.number = c->next_number;
    header.offset = offset;
    struct bond_op op = {.kind = BOND_OP_MESSAGE,
                         .request = n,
                         .offset = offset,
                         .bytes = header.bytes,
                         .ordered = true,
                         .header = header};
    if (!bond_may_send(l) || !bond_op_start(&op, l, NULL))
        return false;
    c->next_number++;
    return true;
}

/* The flags of the last piece. If the request has a completion event, it must
 * not complete before the peer's receive is filled: the piece asks for news. */
static uint8_t last_flags(struct bond_conn *c, const struct core_request *r)
{
    struct bond_request *q = r->tp;
    int flags = r->w.flags;
    q->asks = !(flags & DAT_COMPLETION_SUPPRESS_FLAG);
    q->number = c->next_number;
    return (uint8_t)(BOND_LAST | (q->asks ? BOND_ASK : 0) |
                     (flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG
                          ? BOND_SOLICITED
                          : 0));
}

/* The bytes of the piece at this offset: it must fit a slot, and have no more
 * segments than a member can gather. */
static uint64_t piece_of(const struct bond_conn *c, const struct core_wqe *w,
                         uint64_t offset)
{
    uint64_t bytes = 0;
    unsigned segments = 0;
    for (uint32_t i = 0; i < w->nseg && segments < c->b->send_segments; i++) {
        uint64_t length = w->seg[i].segment_length;
        uint64_t skip = offset < length ? offset : length;
        offset -= skip;
        bytes += length - skip;
        segments += length > skip;
    }
    return bytes < BOND_DATA_MAX ? bytes : BOND_DATA_MAX;
}

static bool lead_send(struct bond_conn *c, struct bond_link *l, uint64_t n)
{
    struct core_request *r = core_request_at(c->ep, n);
    struct bond_request *q = r->tp;
    do {
        uint64_t left = r->w.total - q->sent;
        uint64_t bytes = piece_of(c, &r->w, q->sent);
        struct bond_header h = {.bytes = (uint16_t)bytes, .total = r->w.total};
        if (bytes == left)
            h.flags = last_flags(c, r);
        if (!send_numbered(c, l, n, h, q->sent))
            return false;
        q->sent += bytes;
    } while (q->sent < r->w.total);
    return true;
}

/* The peer's bond carries it out, and answers. */
static bool lead_atomic(struct bond_conn *c, struct bond_link *l, uint64_t n)
{
    struct bond_header h = {.kind = BOND_ATOMIC,
                            .bytes = sizeof(struct bond_atomic)};
    if (c->atomics - c->answered == BOND_ATOMICS ||
        !send_numbered(c, l, n, h, 0))
        return false;
    c->atomic[c->atomics++ % BOND_ATOMICS] = n;
    return true;
}

static bool lead_immed(struct bond_conn *c, struct bond_link *l, uint64_t n)
{
    struct core_request *r = core_request_at(c->ep, n);
    struct bond_header h = {.flags = (uint8_t)(last_flags(c, r) | BOND_IMMED),
                            .immed = r->immed,
                            .total = r->w.total};
    return send_numbered(c, l, n, h, 0);
}

/* Posts a read or write in pieces: the completion of each piece shows that the
 * link is alive. */
static bool lead_access(struct bond_conn *c, struct bond_link *l, uint64_t n)
{
    struct core_request *r = core_request_at(c->ep, n);
    struct bond_request *q = r->tp;
    bool reads = r->op == CORE_READ;
    uint64_t left = r->w.total - q->body;
    if (left && c->atomics != c->answered)
        return false; /* the member would overtake the atomics */
    while ((left = r->w.total - q->body - q->sent)) {
        struct bond_op op = {.kind = reads ? BOND_OP_READ : BOND_OP_WRITE,
                             .request = n,
                             .offset = q->body + q->sent,
                             .bytes = left < BOND_PIECE ? left : BOND_PIECE,
                             .mark = reads ? 0 : l->marks + 1};
        if (!bond_op_start(&op, l, NULL))
            return false;
        q->sent += op.bytes;
        if (!reads) {
            l->marks++;
            bond_link_mark(l);
        }
    }
    return true;
}

static bool lead_part(struct bond_conn *c, struct bond_link *l, uint64_t n)
{
    switch (core_request_at(c->ep, n)->op) {
    case CORE_SEND:
        return lead_send(c, l, n);
    case CORE_FETCH_ADD:
    case CORE_CMP_SWAP:
        return lead_atomic(c, l, n);
    case CORE_WRITE_IMMED:
        return lead_access(c, l, n) && lead_immed(c, l, n);
    default:
        return lead_access(c, l, n);
    }
}

/* Posts the part of a request that goes over the lead. False: not now. */
static bool lead(struct bond_conn *c, uint64_t n)
{
    struct core_request *r = core_request_at(c->ep, n);
    struct bond_request *q = r->tp;
    struct bond_link *l = bond_usable_link(c, c->lead);
    if (atomic_load(&c->aborted))
        return false;
    if (r->done)
        return true;
    bool tail_waits = r->op != CORE_READ && q->body && q->under_way;
    if (!l || tail_waits || overtakes_read(c, r, n) || !has_keys(c, r, n))
        return false;
    if (!lead_part(c, l, n))
        return false;
    q->led = true;
    bond_request_look(c, n);
    return true;
}

/* -------------------------------------------------------------- issuing --- */

void bond_issue_locked(struct bond_conn *c)
{
    uint64_t end = atomic_load(&c->ep->sq_tail);
    if (!atomic_load(&c->aborted) && bond_redo(c)) {
        read_on(c);
        for (uint64_t led = UINT64_MAX; led != c->next_lead;) {
            led = c->next_lead; /* after these requests, bodies may have room */
            while (c->next_body != end && begin(c, c->next_body))
                c->next_body++;
            while (c->next_lead != c->next_body && lead(c, c->next_lead))
                c->next_lead++;
        }
    }
    core_requests_retire(c->ep);
}

void bond_issue(struct bond_conn *c)
{
    if (c->state != BOND_CONNECTED && c->state != BOND_DRAINING)
        return;
    core_ep_lock(c->ep);
    bond_issue_locked(c);
    core_ep_unlock(c->ep);
}
