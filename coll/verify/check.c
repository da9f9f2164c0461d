/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be seen in the schedules without playing them. */
#include <string.h>

#include "coll/build/irregular/offer.h"
#include "verify.h"

/* The operation that is being checked. */
struct site {
    struct verifier *v;
    unsigned rank, op;
};

#define WRONG(site, ...)                                                       \
    verify_fail_at((site)->v, (site)->rank, 0, (site)->op, __VA_ARGS__)

static size_t gcd(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static size_t room(const struct verifier *v, unsigned rank, dcoll_space_t space)
{
    switch (space) {
    case DCOLL_SEND:
        return send_bytes(v, rank);
    case DCOLL_RECV:
        return recv_bytes(v, rank);
    case DCOLL_TEMP:
        return schedule_of(v, rank)->temp_bytes;
    case DCOLL_NODE:
        return schedule_of(v, rank)->node_bytes;
    }
    return 0;
}

static void check_range(const struct site *site, unsigned rank,
                        dcoll_place_t place, size_t bytes)
{
    struct verifier *v = site->v;
    size_t have = bytes ? room(v, rank, place.space) : 0;
    if (!bytes)
        return;
    if (place.offset > have || bytes > have - place.offset)
        WRONG(site, "out of bounds: there are %zu bytes on rank %u", have,
              rank);
    v->grain = gcd(gcd(v->grain, place.offset), bytes);
}

static void check_target(const struct site *site, dcoll_place_t dst)
{
    if (dst.space == DCOLL_SEND)
        WRONG(site, "SEND must not be written");
}

static void check_copy(const struct site *site, const dcoll_op_t *op)
{
    check_target(site, op->dst);
    check_range(site, site->rank, op->src, op->bytes);
    check_range(site, site->rank, op->dst, op->bytes);
    if (op->taken && op->src.space != DCOLL_NODE)
        WRONG(site, "only what is in NODE can be taken");
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

static void check_combine(const struct site *site, const dcoll_op_t *op)
{
    const dcoll_args_t *args = &site->v->program->args;
    check_target(site, op->dst);
    check_range(site, site->rank, op->src, op->bytes);
    check_range(site, site->rank, op->with, op->bytes);
    check_range(site, site->rank, op->dst, op->bytes);
    if (!verify_is_reduction(site->v))
        WRONG(site, "the collective is no reduction");
    else if (op->taken && op->src.space != DCOLL_NODE &&
             op->with.space != DCOLL_NODE)
        WRONG(site, "only what is in NODE can be taken");
    else if (args->element && op->bytes % args->element)
        WRONG(site, "elements have %zu bytes", args->element);
    else if (overlaps(op->src, op->dst, op->bytes) ||
             overlaps(op->with, op->dst, op->bytes))
        WRONG(site, "an operand and the result overlap");
}

static void check_peer(const struct site *site, const dcoll_op_t *op)
{
    if (op->peer >= site->v->nranks)
        WRONG(site, "there are only %u ranks", site->v->nranks);
    else if (op->peer == site->rank)
        WRONG(site, "the peer is the rank itself");
    if (op->lag > site->v->program->args.depth)
        WRONG(site, "the lag is more than the depth %u",
              site->v->program->args.depth);
}

/* Once in so many starts. */
static unsigned in_starts(unsigned every)
{
    return every ? every : 1;
}

/* What is performed once in several starts. */
static void check_every(const struct site *site, const dcoll_op_t *op)
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

static void check_port(const struct site *site, const dcoll_op_t *op)
{
    if (op->port >= site->v->shape->ports)
        WRONG(site, "port %u of %u", op->port, site->v->shape->ports);
}

/* Of an irregular collective: where something is in SEND or RECV, the counts
 * tell. */
static void check_user(const struct site *site, dcoll_place_t place)
{
    if ((place.space == DCOLL_SEND || place.space == DCOLL_RECV) &&
        place.offset)
        WRONG(site, "counts tell where in users' buffers, not an offset");
}

static void check_placed(const struct site *site, const dcoll_op_t *op)
{
    if (!is_irregular(site->v) || op->dst.space != DCOLL_RECV)
        WRONG(site, "elements are put from SEND to RECV");
    else if (!site->v->program->args.traffic->labelled)
        WRONG(site, "elements without counts have no place in RECV");
    check_user(site, op->src);
    check_user(site, op->dst);
}

/* All of one kind to or from a rank are performed in the same starts. */
static void check_rhythm(const struct site *site, const dcoll_op_t *op,
                         unsigned earlier, uint32_t *every)
{
    if (earlier && *every != op->every)
        WRONG(site, "an earlier one is performed once in %u starts",
              in_starts(*every));
    *every = op->every;
}

static void check_post(const struct site *site, const dcoll_op_t *op,
                       dcoll_tag_t tag)
{
    struct stream *s = stream_of(site->v, op->peer, site->rank, tag);
    check_rhythm(site, op, s->posts++, &s->posts_every);
}

static void check_put(const struct site *site, const dcoll_op_t *op)
{
    struct verifier *v = site->v;
    check_peer(site, op);
    if (v->error)
        return;
    check_target(site, op->dst);
    if (op->sized && op->src.space == DCOLL_SEND) {
        check_placed(site, op);
    } else {
        check_range(site, site->rank, op->src, op->bytes);
        check_range(site, op->peer, op->dst, op->bytes);
    }
    check_port(site, op);
    check_post(site, op, DCOLL_DATA);
}

/* What others get from: the executor gives them one key, that of this. */
static dcoll_space_t shared_space(const dcoll_args_t *args)
{
    return dcoll_all_in_place(args) ? DCOLL_RECV : DCOLL_SEND;
}

static void check_get(const struct site *site, const dcoll_op_t *op)
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
    check_target(site, op->dst);
    check_range(site, op->peer, op->src, op->bytes);
    check_range(site, site->rank, op->dst, op->bytes);
}

static void check_wait(const struct site *site, const dcoll_op_t *op)
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

static void check_payload(const struct site *site, dcoll_place_t place,
                          size_t bytes)
{
    struct verifier *v = site->v;
    check_range(site, site->rank, place, bytes);
    if (bytes > DCOLL_LINE_BYTES)
        WRONG(site, "a payload has at most %d bytes", DCOLL_LINE_BYTES);
    if (bytes > v->line_cells)
        v->line_cells = bytes; /* in bytes until the grain is known */
}

static void check_await(const struct site *site, const dcoll_op_t *op)
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
    check_target(site, op->dst);
    check_payload(site, op->dst, op->bytes);
}

static void check_signal(const struct site *site, const dcoll_op_t *op)
{
    unsigned flags = schedule_of(site->v, site->rank)->flags;
    if (op->flag >= flags)
        WRONG(site, "there are %u flags", flags);
    check_payload(site, op->src, op->bytes);
}

/* The rooms of a dealing. */
static void check_strided(const struct site *site, dcoll_place_t place,
                          const dcoll_deal_t *deal)
{
    if (deal->stride < BUNDLE_HEAD || deal->stride % BUNDLE_HEAD)
        WRONG(site, "nothing can have a room of %zu bytes", deal->stride);
    else if (deal->stride > SIZE_MAX / deal->fan)
        WRONG(site, "%u rooms of %zu bytes are too much", deal->fan,
              deal->stride);
    else
        check_range(site, site->rank, place, deal->fan * deal->stride);
}

static const dcoll_deal_t *deal_of(const struct site *site,
                                   const dcoll_op_t *op)
{
    const dcoll_schedule_t *s = schedule_of(site->v, site->rank);
    if (op->deal < s->ndeals && s->deals[op->deal].fan)
        return &s->deals[op->deal];
    WRONG(site, "its number %u is not that of any of %u dealings", op->deal,
          s->ndeals);
    return NULL;
}

/* It goes on where the dealing before has been. */
static bool goes_on(const struct site *site, const dcoll_op_t *op)
{
    const dcoll_schedule_t *s = schedule_of(site->v, site->rank);
    const dcoll_deal_t *a = &s->deals[op->deal], *b;
    const dcoll_op_t *before = op;
    while (before-- > s->ops)
        if (before->kind == DCOLL_DISTRIBUTE || before->kind == DCOLL_COLLECT)
            break;
    if (before < s->ops || before->deal >= s->ndeals)
        return false;
    b = &s->deals[before->deal];
    return op->kind == before->kind && op->phase == before->phase &&
           op->dst.offset == before->dst.offset && a->fan == b->fan &&
           a->stride == b->stride && a->period == b->period &&
           a->divisor == b->divisor && a->most == b->most;
}

static void check_deal(const struct site *site, const dcoll_op_t *op)
{
    struct verifier *v = site->v;
    const dcoll_deal_t *deal = deal_of(site, op);
    if (!deal)
        return;
    if (!is_irregular(v))
        WRONG(site, "the collective is not irregular");
    else if (op->dst.space != DCOLL_TEMP)
        WRONG(site, "buckets are in TEMP");
    else if (op->src.space != DCOLL_TEMP && op->src.space != DCOLL_SEND)
        WRONG(site, "bundles are in TEMP");
    else if (op->kind == DCOLL_DISTRIBUTE && deal->period < deal->fan)
        WRONG(site, "of %u buckets only %u get anything", deal->fan,
              deal->period);
    else if (op->kind == DCOLL_COLLECT && !deal->divisor)
        WRONG(site, "the divisor is 0");
    else if (!deal->opens && !goes_on(site, op))
        WRONG(site, "the buckets were not opened for such a dealing");
    check_user(site, op->src);
    if (op->src.space == DCOLL_TEMP)
        check_range(site, site->rank, op->src, op->bytes);
    check_strided(site, op->dst, deal);
}

static void check_deliver(const struct site *site, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = deal_of(site, op);
    if (deal && op->src.space != DCOLL_TEMP)
        WRONG(site, "bundles are in TEMP");
    else if (deal && op->dst.space != DCOLL_RECV)
        WRONG(site, "elements are delivered to RECV");
    if (!deal)
        return;
    check_user(site, op->dst);
    check_strided(site, op->src, deal);
}

static bool same_node(const struct site *site, unsigned peer)
{
    const dcoll_shape_t *shape = site->v->shape;
    return dcoll_shape_node(shape, peer) == dcoll_shape_node(shape, site->rank);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Bytes of the elements that so many ranks may have for others, with any counts
 * within the traffic. */
static double elements_most(const struct site *site, unsigned senders,
                            unsigned receivers)
{
    const dcoll_traffic_t *t = site->v->program->args.traffic;
    double pair = (double)t->max_pair, rank = (double)t->max_rank;
    double sent = senders * least(receivers * pair, rank);
    return least(sent, receivers * rank) * (double)t->element;
}

/* Of a table, with the elements that must be in it: all that have no counts,
 * else those for other nodes. */
static double table_most(const struct site *site)
{
    const struct verifier *v = site->v;
    unsigned near = v->program->args.traffic->labelled
                        ? dcoll_shape_locals(v->shape, site->rank)
                        : 0;
    return (double)offer_table(v->nranks) +
           elements_most(site, 1, v->nranks - near);
}

/* What may have to be there must fit into it. */
static void check_fits(const struct site *site, dcoll_place_t place,
                       size_t bytes, double most)
{
    if ((double)bytes < most)
        WRONG(site, "what may be there needs %.0f bytes", most);
    check_range(site, site->rank, place, bytes);
}

static void check_table(const struct site *site, const dcoll_op_t *op)
{
    if (op->dst.space != DCOLL_NODE && op->dst.space != DCOLL_TEMP)
        WRONG(site, "tables are in NODE or TEMP");
    else /* in TEMP one for each rank, without elements */
        check_fits(site, op->dst, op->bytes,
                   op->dst.space == DCOLL_TEMP
                       ? (double)(site->v->nranks * offer_table(1))
                       : table_most(site));
}

/* All tables of the node. */
static void check_tables(const struct site *site, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = deal_of(site, op);
    unsigned locals = dcoll_shape_locals(site->v->shape, site->rank);
    if (!deal)
        return;
    if (deal->fan != locals)
        WRONG(site, "%u tables of %u", deal->fan, locals);
    else if (op->src.space != DCOLL_NODE)
        WRONG(site, "tables are in NODE");
    else if ((double)deal->stride < table_most(site))
        WRONG(site, "a table does not fit into %zu bytes", deal->stride);
    check_strided(site, op->src, deal);
}

/* What all ranks have put there. */
static void check_counts(const struct site *site, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = deal_of(site, op);
    if (!deal)
        return;
    if (deal->fan != site->v->nranks || deal->stride != offer_table(1))
        WRONG(site, "it looks at a table of one entry for each rank");
    check_strided(site, op->src, deal);
}

/* Of a bundle from the one rank's node to the other's. */
static double bundle_most(const struct site *site, unsigned from, unsigned to)
{
    const dcoll_shape_t *shape = site->v->shape;
    unsigned senders = dcoll_shape_locals(shape, from);
    unsigned receivers = dcoll_shape_locals(shape, to);
    return (double)offer_section(senders, receivers) +
           elements_most(site, senders, receivers);
}

static void check_pack(const struct site *site, const dcoll_op_t *op)
{
    check_tables(site, op);
    if (same_node(site, op->peer))
        WRONG(site, "the peer is on this node");
    else if (op->dst.space != DCOLL_TEMP)
        WRONG(site, "bundles are packed in TEMP");
    check_fits(site, op->dst, op->bytes,
               bundle_most(site, site->rank, op->peer));
}

static void check_expect(const struct site *site, const dcoll_op_t *op)
{
    if (op->src.space == DCOLL_TEMP)
        check_counts(site, op);
    else if (same_node(site, op->peer))
        check_tables(site, op);
    else if (op->src.space != DCOLL_NODE)
        WRONG(site, "what comes is in NODE");
    else
        check_fits(site, op->src, op->bytes,
                   bundle_most(site, op->peer, site->rank));
}

static void check_pick(const struct site *site, const dcoll_op_t *op)
{
    bool near = same_node(site, op->peer);
    bool labelled = site->v->program->args.traffic->labelled;
    if (op->peer == site->rank && labelled)
        return;
    if (op->src.space != DCOLL_NODE)
        WRONG(site, "tables are in NODE");
    else if (near && labelled && !schedule_of(site->v, op->peer)->shared)
        WRONG(site, "the peer's schedule is not shared");
    check_fits(site, op->src, op->bytes,
               near ? table_most(site)
                    : bundle_most(site, op->peer, site->rank));
}

static void check_offer(const struct site *site, const dcoll_op_t *op)
{
    if (!is_irregular(site->v))
        WRONG(site, "the collective is not irregular");
    else if (op->peer >= site->v->nranks)
        WRONG(site, "there are only %u ranks", site->v->nranks);
    else if (op->kind == DCOLL_OFFER)
        check_table(site, op);
    else if (op->kind == DCOLL_PACK)
        check_pack(site, op);
    else if (op->kind == DCOLL_EXPECT)
        check_expect(site, op);
    else
        check_pick(site, op);
}

static void check_op(const struct site *site, const dcoll_op_t *op)
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
        check_deal(site, op);
        break;
    case DCOLL_DELIVER:
        check_deliver(site, op);
        break;
    case DCOLL_OFFER:
    case DCOLL_PACK:
    case DCOLL_EXPECT:
    case DCOLL_PICK:
        check_offer(site, op);
        break;
    }
}

/* A request must have nothing under way when it is started again. */
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

void verify_check(struct verifier *v)
{
    v->grain = is_irregular(v) ? BUNDLE_HEAD : v->program->args.bytes;
    for (unsigned r = 0; r < v->nranks && !v->error; r++)
        for (unsigned i = 0; i < schedule_of(v, r)->nops && !v->error; i++)
            check_op(&(struct site){v, r, i}, &schedule_of(v, r)->ops[i]);
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
