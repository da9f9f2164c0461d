/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/irregular/deal.h"
#include "coll/build/irregular/offer.h"
#include "check.h"

/* The row of rooms of a deal. */
static void check_strided(const struct check_site *site, dcoll_place_t place,
                          const dcoll_deal_t *deal)
{
    if (deal->stride < BUNDLE_HEAD || deal->stride % BUNDLE_HEAD)
        WRONG(site, "nothing can have a room of %zu bytes", deal->stride);
    else if (deal->stride > SIZE_MAX / deal->fan)
        WRONG(site, "%u rooms of %zu bytes are too much", deal->fan,
              deal->stride);
    else
        verify_check_range(site, site->rank, place, deal->fan * deal->stride);
}

static const dcoll_deal_t *deal_of(const struct check_site *site,
                                   const dcoll_op_t *op)
{
    const dcoll_schedule_t *s = schedule_of(site->v, site->rank);
    if (op->deal < s->ndeals && s->deals[op->deal].fan)
        return &s->deals[op->deal];
    WRONG(site, "its number %u is not that of any of %u dealings", op->deal,
          s->ndeals);
    return NULL;
}

/* Does it continue the deal before it, with the same buckets? */
static bool goes_on(const struct check_site *site, const dcoll_op_t *op)
{
    const dcoll_schedule_t *s = schedule_of(site->v, site->rank);
    const dcoll_op_t *before = op;
    while (before-- > s->ops)
        if (before->kind == DCOLL_DISTRIBUTE || before->kind == DCOLL_COLLECT)
            break;
    if (before < s->ops || before->deal >= s->ndeals)
        return false;
    return op->kind == before->kind && op->phase == before->phase &&
           op->dst.offset == before->dst.offset &&
           deal_is_alike(&s->deals[op->deal], &s->deals[before->deal]);
}

void verify_check_deal(const struct check_site *site, const dcoll_op_t *op)
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
    else if (deal->ring ? deal->ring != v->nranks || deal->origin >= deal->ring
                        : deal->origin)
        WRONG(site, "a ring of %u ranks from rank %u", deal->ring,
              deal->origin);
    else if (!deal->opens && !goes_on(site, op))
        WRONG(site, "the buckets were not opened for such a dealing");
    verify_check_user(site, op->src);
    if (op->src.space == DCOLL_TEMP)
        verify_check_range(site, site->rank, op->src, op->bytes);
    check_strided(site, op->dst, deal);
}

void verify_check_deliver(const struct check_site *site, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = deal_of(site, op);
    if (deal && op->src.space != DCOLL_TEMP)
        WRONG(site, "bundles are in TEMP");
    else if (deal && op->dst.space != DCOLL_RECV)
        WRONG(site, "elements are delivered to RECV");
    if (!deal)
        return;
    verify_check_user(site, op->dst);
    check_strided(site, op->src, deal);
}

static bool same_node(const struct check_site *site, unsigned peer)
{
    const dcoll_shape_t *shape = site->v->shape;
    return dcoll_shape_node(shape, peer) == dcoll_shape_node(shape, site->rank);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Most bytes of elements from so many senders to so many receivers, for any
 * counts within the traffic. */
static double elements_most(const struct check_site *site, unsigned senders,
                            unsigned receivers)
{
    const dcoll_traffic_t *t = site->v->program->args.traffic;
    double pair = (double)t->max_pair, rank = (double)t->max_rank;
    double sent = senders * least(receivers * pair, rank);
    return least(sent, receivers * rank) * (double)t->element;
}

/* Most bytes of a table with the elements that must be in it: those for other
 * nodes; elements with destinations: all. */
static double table_most(const struct check_site *site)
{
    const struct verifier *v = site->v;
    unsigned near = v->program->args.traffic->labelled
                        ? dcoll_shape_locals(v->shape, site->rank)
                        : 0;
    return (double)offer_table(v->nranks) +
           elements_most(site, 1, v->nranks - near);
}

/* Do the most bytes that may be needed fit? */
static void check_fits(const struct check_site *site, dcoll_place_t place,
                       size_t bytes, double most)
{
    if ((double)bytes < most)
        WRONG(site, "what may be there needs %.0f bytes", most);
    verify_check_range(site, site->rank, place, bytes);
}

static void check_table(const struct check_site *site, const dcoll_op_t *op)
{
    if (op->dst.space != DCOLL_NODE && op->dst.space != DCOLL_TEMP)
        WRONG(site, "tables are in NODE or TEMP");
    else /* in TEMP: one table per rank, without elements */
        check_fits(site, op->dst, op->bytes,
                   op->dst.space == DCOLL_TEMP
                       ? (double)(site->v->nranks * offer_table(1))
                       : table_most(site));
}

/* The row of all tables of the node. */
static void check_tables(const struct check_site *site, const dcoll_op_t *op)
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

/* The row of the tables that all ranks have put to TEMP. */
static void check_counts(const struct check_site *site, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = deal_of(site, op);
    if (!deal)
        return;
    if (deal->fan != site->v->nranks || deal->stride != offer_table(1))
        WRONG(site, "it looks at a table of one entry for each rank");
    check_strided(site, op->src, deal);
}

static void check_known(const struct check_site *site, const dcoll_op_t *op)
{
    verify_check_user(site, op->src);
    if (!site->v->program->args.traffic->counts)
        WRONG(site, "the schedule was made without counts");
}

/* Most bytes of a bundle from one rank's node to another's. */
static double bundle_most(const struct check_site *site, unsigned from,
                          unsigned to)
{
    const dcoll_shape_t *shape = site->v->shape;
    unsigned senders = dcoll_shape_locals(shape, from);
    unsigned receivers = dcoll_shape_locals(shape, to);
    return (double)offer_section(senders, receivers) +
           elements_most(site, senders, receivers);
}

static void check_pack(const struct check_site *site, const dcoll_op_t *op)
{
    check_tables(site, op);
    if (same_node(site, op->peer))
        WRONG(site, "the peer is on this node");
    else if (op->dst.space != DCOLL_TEMP)
        WRONG(site, "bundles are packed in TEMP");
    check_fits(site, op->dst, op->bytes,
               bundle_most(site, site->rank, op->peer));
}

static void check_expect(const struct check_site *site, const dcoll_op_t *op)
{
    if (op->src.space == DCOLL_TEMP)
        check_counts(site, op);
    else if (op->src.space == DCOLL_RECV)
        check_known(site, op);
    else if (same_node(site, op->peer))
        check_tables(site, op);
    else if (op->src.space != DCOLL_NODE)
        WRONG(site, "what comes is in NODE");
    else
        check_fits(site, op->src, op->bytes,
                   bundle_most(site, op->peer, site->rank));
}

static void check_pick(const struct check_site *site, const dcoll_op_t *op)
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

void verify_check_offer(const struct check_site *site, const dcoll_op_t *op)
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
