/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bodies. Long requests are cut over all links, in proportion to the rates that
 * the members have shown. Each share goes in pieces: the completion of a piece
 * shows that the link is alive. Many members move the data within the post:
 * with the engine `threaded`, threads post long bodies at the same time.
 * b->lock is held.
 */
#include "dapl_rail/platform/busywait.h"
#include "dapl_rail/stripe/proportional.h"

#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"
#include "providers/bond/transfer/transfer.h"

#define LEARN        4        /* a new rate counts as 1 / LEARN */
#define POSTING_PART 10       /* see bond_body_done */
#define FETCH_NS     500000.0 /* about the time of a piece of a read … */
#define FETCH_LEAST  ((uint64_t)16 << 10) /* … of more bytes than this … */
#define FETCHES      3 /* … over a link, of which so many are under way */

/* ----------------------------------------------------------------- cut --- */

/* The end of a write, up to a cache line: the lead carries it when all other
 * bytes have been written. */
static uint64_t tail_of(const struct core_request *r)
{
    const struct bond_request *q = r->tp;
    uint64_t over = (q->remote_address + r->w.total) % STRIPE_LINE;
    return r->op == CORE_READ ? 0 : over ? over : STRIPE_LINE;
}

static double weight_of(const struct bond_conn *c, const struct bond_request *q,
                        unsigned member)
{
    double known = 0;
    unsigned n = 0;
    if (!bond_link_usable(c->link[member]) ||
        (c->b->syncs && !q->context[member]))
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
    double weight[BOND_MAX_MEMBERS] = {0}, sum = 0;
    unsigned parts = 0, count = c->b->params.count;
    if (r->op == CORE_SEND ||
        !bond_params_cut(&c->b->params, c->b->syncs, r->w.total))
        return;
    for (unsigned i = 0; i < count; i++) {
        weight[i] = weight_of(c, q, i);
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
    last->end = q->body; /* the bytes that rounding has left */
    for (unsigned i = 0; i < count; i++)
        q->share[i].bytes = q->share[i].left = q->share[i].end - q->share[i].at;
}

/* -------------------------------------------------------------- posting --- */

struct batch { /* pieces to be posted */
    struct bond_conn *c;
    uint64_t bytes;
    unsigned count;
    struct bond_op *piece[BOND_OPS];
};

/* The peer sends what a read fetches, and after that its own requests. So reads
 * go in short pieces, and few at a time. */
static uint64_t piece_of(const struct bond_path *p, bool reads)
{
    uint64_t bytes = (uint64_t)(p->rate * FETCH_NS) & ~(FETCH_LEAST - 1);
    if (!reads || bytes > BOND_PIECE)
        return BOND_PIECE;
    return bytes < FETCH_LEAST ? FETCH_LEAST : bytes;
}

/* Takes the next piece of a share. False: not now. */
static bool take_piece(struct batch *b, uint64_t request, unsigned member)
{
    struct core_request *r = core_request_at(b->c->ep, request);
    struct bond_request *q = r->tp;
    struct bond_share *s = &q->share[member];
    struct bond_path *p = &b->c->path[member];
    bool reads = r->op == CORE_READ;
    uint64_t left = s->end - s->at, most = piece_of(p, reads);
    struct bond_op like = {.kind = reads ? BOND_OP_READ : BOND_OP_WRITE,
                           .request = request,
                           .body = true,
                           .share = member,
                           .offset = s->at,
                           .bytes = left < most ? left : most};
    if (reads && p->fetching >= FETCHES * most)
        return false;
    struct bond_op *op = bond_op_new(b->c, &like);
    if (!op)
        return false;
    op->link = bond_body_link(b->c, op);
    s->at += op->bytes;
    p->fetching += reads ? op->bytes : 0;
    b->bytes += op->bytes;
    b->piece[b->count++] = op;
    return true;
}

/* Takes one piece of each share in turn: all links work. True: all of the body
 * is taken. */
static bool take_pieces(struct batch *b, uint64_t request)
{
    struct bond_request *q = core_request_at(b->c->ep, request)->tp;
    bool left = true, moved = true;
    while (moved) {
        left = moved = false;
        for (unsigned i = 0; i < b->c->b->params.count; i++) {
            if (q->share[i].at == q->share[i].end)
                continue;
            moved |= take_piece(b, request, i);
            left |= q->share[i].at != q->share[i].end;
        }
    }
    return !left;
}

static void give(struct bond_op *op)
{
    op->began = busywait_now_ns();
    op->ret = bond_op_give(op);
    op->took = busywait_now_ns() - op->began;
}

/* Posts the pieces of a member's link, in order. */
static void give_of(void *batch, unsigned member)
{
    const struct batch *b = batch;
    for (unsigned i = 0; i < b->count; i++)
        if (b->piece[i]->link->m->index == member)
            give(b->piece[i]);
}

static void given(struct bond_op *op)
{
    struct bond_conn *c = op->conn;
    struct bond_request *q = core_request_at(c->ep, op->request)->tp;
    struct bond_share *s = &q->share[op->share];
    if (!s->begun || op->began < s->begun)
        s->begun = op->began;
    s->posting += op->took;
    if (!bond_op_given(op, op->ret))
        bond_op_insert(&c->redo, op);
}

static void post_batch(struct batch *b)
{
    struct bond_ia *ia = b->c->b;
    if (ia->params.engine == BOND_THREADED && b->bytes >= BOND_TEAM_LEAST)
        bond_team_run(ia, ia->params.count, give_of, b);
    else
        for (unsigned i = 0; i < b->count; i++)
            give(b->piece[i]);
    for (unsigned i = 0; i < b->count; i++)
        given(b->piece[i]);
}

bool bond_body_post(struct bond_conn *c, uint64_t request)
{
    struct batch b = {.c = c};
    struct core_request *r = core_request_at(c->ep, request);
    struct bond_request *q = r->tp;
    bool all = bond_any_usable(c) < BOND_NONE && take_pieces(&b, request);
    if (r->op == CORE_READ) {
        c->partial += (unsigned)!all - (unsigned)q->partial;
        q->partial = !all;
    }
    post_batch(&b);
    if (r->op == CORE_READ) /* it completes after the quiet ops of the lead */
        bond_link_flush(bond_usable_link(c, c->lead));
    return all;
}

/* ------------------------------------------------------------- learning --- */

/* The rate of a share: its bytes by the time from its first post to its last
 * completion. If a good part of that was spent in the posts, the posts
 * themselves have moved the data: then only their time counts. */
void bond_body_done(struct bond_conn *c, const struct bond_op *op)
{
    struct bond_request *q = core_request_at(c->ep, op->request)->tp;
    struct bond_share *s = &q->share[op->share];
    struct bond_path *p = &c->path[op->share];
    s->left -= op->bytes;
    if (op->kind == BOND_OP_READ)
        p->fetching -= op->bytes;
    if (s->left || s->bytes < BOND_SHORTEST)
        return;
    uint64_t took = busywait_now_ns() - s->begun;
    if (s->posting > took / POSTING_PART)
        took = s->posting;
    double rate = (double)s->bytes / (double)(took ? took : 1);
    p->rate = p->rate > 0 ? p->rate + (rate - p->rate) / LEARN : rate;
}
