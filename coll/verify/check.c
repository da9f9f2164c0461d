/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static void check_copy(const struct check_site *site, const dcoll_op_t *op)
{
    verify_check_target(site, op->dst);
    verify_check_range(site, site->rank, op->src, op->bytes);
    verify_check_range(site, site->rank, op->dst, op->bytes);
    if (op->src.space == op->dst.space &&
        op->src.offset < op->dst.offset + op->bytes &&
        op->dst.offset < op->src.offset + op->bytes)
        WRONG(site, "source and target overlap");
}

static bool overlaps(dcoll_place_t a, dcoll_place_t b, size_t bytes)
{
    return a.space == b.space && a.offset != b.offset &&
           a.offset < b.offset + bytes && b.offset < a.offset + bytes;
}

static void check_combine(const struct check_site *site, const dcoll_op_t *op)
{
    const dcoll_args_t *args = &site->v->program->args;
    verify_check_target(site, op->dst);
    verify_check_range(site, site->rank, op->src, op->bytes);
    verify_check_range(site, site->rank, op->with, op->bytes);
    verify_check_range(site, site->rank, op->dst, op->bytes);
    if (!verify_is_reduction(site->v))
        WRONG(site, "the collective is no reduction");
    else if (args->element && op->bytes % args->element)
        WRONG(site, "elements have %zu bytes", args->element);
    else if (overlaps(op->src, op->dst, op->bytes) ||
             overlaps(op->with, op->dst, op->bytes))
        WRONG(site, "an operand and the result overlap");
}

static void check_peer(const struct check_site *site, const dcoll_op_t *op)
{
    if (op->peer >= site->v->nranks)
        WRONG(site, "there are only %u ranks", site->v->nranks);
    else if (op->peer == site->rank)
        WRONG(site, "the peer is the rank itself");
    if (op->lag > site->v->program->args.depth)
        WRONG(site, "the lag is more than the depth %u",
              site->v->program->args.depth);
}

/* The period of an operation, in starts. */
static unsigned in_starts(unsigned every)
{
    return every ? every : 1;
}

/* Operations that are performed once in several starts. */
static void check_every(const struct check_site *site, const dcoll_op_t *op)
{
    bool waits = op->kind == DCOLL_WAIT || op->kind == DCOLL_AWAIT;
    unsigned every = op->every;
    if (!every)
        return;
    if (!waits && op->kind != DCOLL_NOTIFY && op->kind != DCOLL_SIGNAL)
        WRONG(site, "it is needed in each start");
    else if (every & (every - 1))
        WRONG(site, "once in %u starts: not a power of two", every);
    else if (waits && (every > op->lag || op->lag % every))
        WRONG(site, "once in %u starts, but the lag is %u", every, op->lag);
    else if (!waits && (op->bytes || op->tag == DCOLL_READY))
        WRONG(site, "what it brings is of each start");
}

static void check_port(const struct check_site *site, const dcoll_op_t *op)
{
    if (op->port >= site->v->shape->ports)
        WRONG(site, "port %u of %u", op->port, site->v->shape->ports);
}

static void check_placed(const struct check_site *site, const dcoll_op_t *op)
{
    if (!is_irregular(site->v) || op->dst.space != DCOLL_RECV)
        WRONG(site, "elements are put from SEND to RECV");
    else if (!site->v->program->args.traffic->labelled)
        WRONG(site, "elements without counts have no place in RECV");
    if (op->sized) {
        verify_check_user(site, op->src);
        verify_check_user(site, op->dst);
        return;
    }
    size_t *grain = &site->v->grain; /* offsets from the first element for it */
    *grain = verify_gcd(verify_gcd(*grain, op->bytes), op->src.offset);
    *grain = verify_gcd(*grain, op->dst.offset);
}

/* All operations of a stream must be performed in the same starts. */
static void check_rhythm(const struct check_site *site, const dcoll_op_t *op,
                         unsigned earlier, uint32_t *every)
{
    if (earlier && *every != op->every)
        WRONG(site, "an earlier one is performed once in %u starts",
              in_starts(*every));
    *every = op->every;
}

static void check_post(const struct check_site *site, const dcoll_op_t *op,
                       dcoll_tag_t tag)
{
    struct stream *s = stream_of(site->v, op->peer, site->rank, tag);
    check_rhythm(site, op, s->posts++, &s->posts_every);
}

static void check_put(const struct check_site *site, const dcoll_op_t *op)
{
    struct verifier *v = site->v;
    check_peer(site, op);
    if (v->error)
        return;
    verify_check_target(site, op->dst);
    if (is_placed(v, op)) {
        check_placed(site, op);
    } else {
        verify_check_range(site, site->rank, op->src, op->bytes);
        verify_check_range(site, op->peer, op->dst, op->bytes);
    }
    check_port(site, op);
    check_post(site, op, DCOLL_DATA);
}

/* The buffer that others get from: the executor publishes only its key. */
static dcoll_space_t shared_space(const dcoll_args_t *args)
{
    return dcoll_all_in_place(args) ? DCOLL_RECV : DCOLL_SEND;
}

static void check_get(const struct check_site *site, const dcoll_op_t *op)
{
    const struct verifier *v = site->v;
    check_peer(site, op);
    if (v->error)
        return;
    if (dcoll_shape_node(v->shape, op->peer) !=
        dcoll_shape_node(v->shape, site->rank))
        WRONG(site, "the peer is on another node");
    else if (!schedule_of(v, op->peer)->shared)
        WRONG(site, "the peer's schedule is not shared");
    else if (op->src.space != DCOLL_SEND && op->src.space != DCOLL_RECV)
        WRONG(site, "only users' buffers are shared");
    else if (op->src.space != shared_space(&v->program->args))
        WRONG(site, "what is shared is the other buffer");
    check_port(site, op);
    verify_check_target(site, op->dst);
    verify_check_range(site, op->peer, op->src, op->bytes);
    verify_check_range(site, site->rank, op->dst, op->bytes);
}

static void check_wait(const struct check_site *site, const dcoll_op_t *op)
{
    check_peer(site, op);
    if (site->v->error)
        return;
    struct stream *s = stream_of(site->v, site->rank, op->peer, op->tag);
    if (s->waits && s->lag != op->lag)
        WRONG(site, "an earlier one has lag %u", s->lag);
    s->lag = op->lag;
    check_rhythm(site, op, s->waits++, &s->waits_every);
}

static void check_payload(const struct check_site *site, dcoll_place_t place,
                          size_t bytes)
{
    struct verifier *v = site->v;
    verify_check_range(site, site->rank, place, bytes);
    if (bytes > DCOLL_LINE_BYTES)
        WRONG(site, "a payload has at most %d bytes", DCOLL_LINE_BYTES);
    if (bytes > v->line_cells)
        v->line_cells = bytes; /* in bytes, until the grain is known */
}

static void check_await(const struct check_site *site, const dcoll_op_t *op)
{
    struct verifier *v = site->v;
    check_peer(site, op);
    if (v->error)
        return;
    if (dcoll_shape_node(v->shape, op->peer) !=
        dcoll_shape_node(v->shape, site->rank))
        WRONG(site, "rank %u is on another node", op->peer);
    if (op->bytes && op->lag)
        WRONG(site, "a payload of an earlier start");
    if (op->flag >= schedule_of(v, op->peer)->flags)
        WRONG(site, "there are %u flags", schedule_of(v, op->peer)->flags);
    verify_check_target(site, op->dst);
    check_payload(site, op->dst, op->bytes);
}

static void check_signal(const struct check_site *site, const dcoll_op_t *op)
{
    unsigned flags = schedule_of(site->v, site->rank)->flags;
    if (op->flag >= flags)
        WRONG(site, "there are %u flags", flags);
    check_payload(site, op->src, op->bytes);
}

static void check_op(const struct check_site *site, const dcoll_op_t *op)
{
    check_every(site, op);
    switch (op->kind) {
    case DCOLL_PUT:
        check_put(site, op);
        break;
    case DCOLL_GET:
        check_get(site, op);
        break;
    case DCOLL_NOTIFY:
        check_peer(site, op);
        check_port(site, op);
        site->v->keys |= op->tag == DCOLL_READY;
        if (!site->v->error)
            check_post(site, op, op->tag);
        break;
    case DCOLL_WAIT:
        check_wait(site, op);
        break;
    case DCOLL_COMPLETE:
        break;
    case DCOLL_COPY:
        check_copy(site, op);
        break;
    case DCOLL_COMBINE:
        check_combine(site, op);
        break;
    case DCOLL_SIGNAL:
        check_signal(site, op);
        break;
    case DCOLL_AWAIT:
        check_await(site, op);
        break;
    case DCOLL_DISTRIBUTE:
    case DCOLL_COLLECT:
        verify_check_deal(site, op);
        break;
    case DCOLL_DELIVER:
        verify_check_deliver(site, op);
        break;
    case DCOLL_OFFER:
    case DCOLL_PACK:
    case DCOLL_EXPECT:
    case DCOLL_PICK:
        verify_check_offer(site, op);
        break;
    }
}

/* All transfers must be complete at the end of a start. */
static void check_completed(struct verifier *v, unsigned rank)
{
    const dcoll_schedule_t *s = schedule_of(v, rank);
    for (unsigned i = s->nops; i-- > 0;) {
        if (s->ops[i].kind == DCOLL_COMPLETE)
            return;
        if (s->ops[i].kind == DCOLL_PUT || s->ops[i].kind == DCOLL_GET ||
            s->ops[i].kind == DCOLL_PICK) {
            verify_fail_at(v, rank, 0, i, "no COMPLETE follows");
            return;
        }
    }
}

static void check_node(struct verifier *v, unsigned node)
{
    unsigned first = v->shape->node_begin[node];
    const dcoll_schedule_t *a = schedule_of(v, first);
    for (unsigned r = first; r < v->shape->node_begin[node + 1]; r++) {
        const dcoll_schedule_t *b = schedule_of(v, r);
        if (a->node_bytes != b->node_bytes || a->flags != b->flags)
            verify_fail(v,
                        "ranks %u and %u of node %u disagree on its memory: "
                        "%zu and %zu bytes, %u and %u flags",
                        first, r, node, a->node_bytes, b->node_bytes, a->flags,
                        b->flags);
    }
}

static void check_streams(struct verifier *v)
{
    size_t count = (size_t)v->nranks * v->nranks * DCOLL_TAGS;
    for (size_t i = 0; i < count; i++) {
        const struct stream *s = &v->streams[i];
        size_t pair = i / DCOLL_TAGS;
        if (s->posts == s->waits && s->posts_every == s->waits_every)
            continue;
        if (s->posts == s->waits)
            verify_fail(v,
                        "rank %zu sends %s to rank %zu once in %u starts, "
                        "which waits for it once in %u",
                        pair % v->nranks,
                        dcoll_tag_name((dcoll_tag_t)(i % DCOLL_TAGS)),
                        pair / v->nranks, in_starts(s->posts_every),
                        in_starts(s->waits_every));
        else
            verify_fail(v,
                        "in each start, rank %zu sends %u %s to rank %zu, "
                        "which waits for %u",
                        pair % v->nranks, s->posts,
                        dcoll_tag_name((dcoll_tag_t)(i % DCOLL_TAGS)),
                        pair / v->nranks, s->waits);
        return;
    }
}

/* The bytes that no operation divides: an element, or the head of a bundle or
 * table if a schedule has one. */
static size_t irregular_grain(const struct verifier *v)
{
    for (unsigned r = 0; r < v->nranks; r++)
        if (schedule_of(v, r)->temp_bytes || schedule_of(v, r)->node_bytes)
            return BUNDLE_HEAD;
    return v->program->args.traffic->element;
}

void verify_check(struct verifier *v)
{
    v->grain = is_irregular(v) ? irregular_grain(v) : v->program->args.bytes;
    for (unsigned r = 0; r < v->nranks && !v->error; r++)
        for (unsigned i = 0; i < schedule_of(v, r)->nops && !v->error; i++)
            check_op(&(struct check_site){v, r, i}, &schedule_of(v, r)->ops[i]);
    for (unsigned r = 0; v->program->args.begin && r < v->nranks; r++)
        v->grain = verify_gcd(v->grain, v->program->args.begin[r + 1]);
    if (!v->grain)
        v->grain = 1;
    v->line_cells /= v->grain;
    for (unsigned r = 0; r < v->nranks && !v->error; r++)
        check_completed(v, r);
    for (unsigned n = 0; n < v->shape->nnodes && !v->error; n++)
        check_node(v, n);
    if (!v->error)
        check_streams(v);
}
