/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bodies: long requests are cut over all links, in proportion to the rates that
 * their members have shown. Each share goes in pieces, so that a completion now
 * and then shows that the link is alive. b->lock is held.
 */
#include "dapl_rail/platform/busywait.h"
#include "dapl_rail/stripe/proportional.h"

#include "bond.h"

#define LINE         64
#define SHORTEST     4096 /* of which a body pays, whatever the threshold */
#define LEARN        4  /* a new rate counts so many times less than the old */
#define POSTING_PART 10 /* of a share's time: then the posts moved the data */

/* ----------------------------------------------------------------- cut --- */

/* The bytes that go over the lead, after all others: the end of a write, up to
 * a cache line. */
static uint64_t tail_of(const struct core_request *r)
{
    const struct bond_request *q = r->tp;
    uint64_t over = (q->remote_address + r->w.total) % LINE;
    return r->op == CORE_READ ? 0 : over ? over : LINE;
}

static double weight_of(const struct bond_conn *c, unsigned member)
{
    double known = 0;
    unsigned n = 0;
    if (!bond_link_usable(c->link[member]))
        return 0;
    if (c->b->params.policy == BOND_EVEN)
        return 1;
    for (unsigned i = 0; i < c->b->params.count; i++) {
        known += c->path[i].rate;
        n += c->path[i].rate > 0;
    }
    if (c->path[member].rate > 0)
        return c->path[member].rate;
    return n ? known / n : 1; /* not measured yet */
}

void bond_body_cut(struct bond_conn *c, struct core_request *r)
{
    struct bond_request *q = r->tp;
    size_t threshold = c->b->params.threshold;
    double weight[BOND_MAX_MEMBERS] = {0}, sum = 0;
    unsigned parts = 0, count = c->b->params.count;
    if (r->op == CORE_SEND || r->w.total < threshold || r->w.total < SHORTEST)
        return;
    for (unsigned i = 0; i < count; i++) {
        weight[i] = weight_of(c, i);
        sum += weight[i];
        parts += weight[i] > 0;
    }
    if (parts < 2)
        return;
    q->body = r->w.total - tail_of(r);
    size_t align = stripe_border(q->body, parts);
    uint64_t begin = 0;
    long double reached = 0;
    struct bond_share *last = NULL;
    for (unsigned i = 0; i < count; i++) {
        reached += weight[i];
        uint64_t end = stripe_end(q->body, reached, sum, align);
        q->share[i] = (struct bond_share){.at = begin, .end = end};
        begin = end;
        if (weight[i] > 0)
            last = &q->share[i];
    }
    last->end = q->body; /* what rounding has left */
    for (unsigned i = 0; i < count; i++)
        q->share[i].bytes = q->share[i].left = q->share[i].end - q->share[i].at;
}

/* --------------------------------------------------------------- posting ---
 */

/* Posts the next piece of a share. False: not now. */
static bool post_piece(struct bond_conn *c, uint64_t request, unsigned member)
{
    struct core_request *r = core_request_at(c->ep, request);
    struct bond_request *q = r->tp;
    struct bond_share *s = &q->share[member];
    struct bond_link *l = c->link[member];
    if (!bond_link_usable(l)) /* lost since it was cut */
        l = c->lead < BOND_NONE ? c->link[c->lead] : NULL;
    struct bond_op *op =
        bond_link_usable(l)
            ? bond_op_new(c, r->op == CORE_READ ? BOND_OP_READ : BOND_OP_WRITE,
                          request)
            : NULL;
    if (!op)
        return false;
    op->body = true;
    op->share = member;
    op->offset = s->at;
    op->bytes = s->end - s->at < BOND_PIECE ? s->end - s->at : BOND_PIECE;
    q->under_way++;
    uint64_t before = busywait_now_ns();
    if (!bond_op_post(op, l)) {
        q->under_way--;
        bond_op_free(op);
        return false;
    }
    if (!s->begun)
        s->begun = before;
    s->posting += busywait_now_ns() - before;
    s->at += op->bytes;
    return true;
}

bool bond_body_post(struct bond_conn *c, uint64_t request)
{
    struct bond_request *q = core_request_at(c->ep, request)->tp;
    bool left = true, moved = true;
    while (moved) { /* in turn, so that all links work */
        left = moved = false;
        for (unsigned i = 0; i < c->b->params.count; i++) {
            if (q->share[i].at == q->share[i].end)
                continue;
            if (post_piece(c, request, i))
                moved = true;
            left = left || q->share[i].at != q->share[i].end;
        }
    }
    return !left;
}

/* ------------------------------------------------------------- learning --- */

void bond_body_done(struct bond_conn *c, const struct bond_op *op)
{
    struct bond_request *q = core_request_at(c->ep, op->request)->tp;
    struct bond_share *s = &q->share[op->share];
    struct bond_path *p = &c->path[op->share];
    s->left -= op->bytes;
    if (s->left || s->bytes < SHORTEST)
        return;
    uint64_t took = busywait_now_ns() - s->begun;
    if (s->posting > took / POSTING_PART)
        took = s->posting;
    double rate = (double)s->bytes / (double)(took ? took : 1);
    p->rate = p->rate > 0 ? p->rate + (rate - p->rate) / LEARN : rate;
}
