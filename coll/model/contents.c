/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/dapl_rail.h"
#include "coll/build/irregular/bundle.h"
#include "coll/build/irregular/deal.h"
#include "coll/build/irregular/offer.h"
#include "contents.h"

/* A bundle or table at a place of a rank's memory. */
struct bundle {
    dcoll_place_t place;
    double bytes;
    struct bundle_run *runs;
    unsigned count, capacity;
};

struct holder {
    struct bundle **bundles;
    unsigned count, capacity;
    uint64_t *counter; /* DISTRIBUTE: by destination */
    bool *pulled;      /* OFFER: by destination */
};

struct contents {
    const dcoll_program_t *program;
    const dcoll_traffic_t *traffic;
    unsigned nranks;
    struct holder *holders; /* by rank */
    bool failed;
};

struct contents *contents_make(const dcoll_program_t *program)
{
    unsigned n = program->shape->nranks;
    struct contents *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct contents){.program = program,
                           .traffic = program->args.traffic,
                           .nranks = n,
                           .holders = calloc(n, sizeof *c->holders)};
    for (unsigned r = 0; c->holders && r < n; r++) {
        c->holders[r].counter = calloc(n, sizeof *c->holders[r].counter);
        c->holders[r].pulled = calloc(n, sizeof *c->holders[r].pulled);
        c->failed |= !c->holders[r].counter || !c->holders[r].pulled;
    }
    if (c->holders && !c->failed)
        return c;
    contents_free(c);
    return NULL;
}

void contents_free(struct contents *c)
{
    for (unsigned r = 0; c && c->holders && r < c->nranks; r++) {
        struct holder *h = &c->holders[r];
        for (unsigned i = 0; i < h->count; i++) {
            free(h->bundles[i]->runs);
            free(h->bundles[i]);
        }
        free(h->bundles);
        free(h->counter);
        free(h->pulled);
    }
    if (c)
        free(c->holders);
    free(c);
}

static bool grow(struct contents *c, void **array, unsigned count,
                 unsigned *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    unsigned more = *capacity ? 2 * *capacity : 8;
    void *grown = realloc(*array, more * size);
    c->failed |= !grown;
    if (!grown)
        return false;
    *array = grown;
    *capacity = more;
    return true;
}

/* Finds or adds the content of a place. NULL: out of memory. */
static struct bundle *bundle_at(struct contents *c, unsigned rank,
                                dcoll_place_t place)
{
    struct holder *h = &c->holders[rank];
    for (unsigned i = 0; i < h->count; i++)
        if (h->bundles[i]->place.space == place.space &&
            h->bundles[i]->place.offset == place.offset)
            return h->bundles[i];
    if (!grow(c, (void **)&h->bundles, h->count, &h->capacity,
              sizeof *h->bundles))
        return NULL;
    struct bundle *b = calloc(1, sizeof *b);
    c->failed |= !b;
    if (b) {
        b->place = place;
        h->bundles[h->count++] = b;
    }
    return b;
}

static double counted(const struct contents *c, unsigned from, unsigned to)
{
    return (double)c->program->counts[(size_t)from * c->nranks + to] *
           (double)c->traffic->element;
}

/* ------------------------------------------------------------ dealing --- */

static void append(struct contents *c, struct bundle *b, struct bundle_run run,
                   uint64_t count)
{
    if (!grow(c, (void **)&b->runs, b->count, &b->capacity, sizeof run))
        return;
    run.count = (uint32_t)count;
    b->runs[b->count++] = run;
    b->bytes += (double)count * (double)c->traffic->element;
    if (c->traffic->labelled)
        b->bytes += BUNDLE_RUN;
}

/* Deals to the buckets at op->dst. */
static void deal_run(struct contents *c, unsigned rank, const dcoll_op_t *op,
                     const struct bundle_run *run)
{
    const dcoll_deal_t *deal = &c->program->rank[rank].deals[op->deal];
    uint64_t *counter = &c->holders[rank].counter[run->dst];
    dcoll_place_t at = op->dst;
    for (unsigned b = 0; b < deal->fan; b++, at.offset += deal->stride) {
        uint64_t n = op->kind == DCOLL_DISTRIBUTE
                         ? deal_share(deal, *counter, run->count, b)
                     : deal_bucket(deal, run->dst) == b ? run->count
                                                        : 0;
        struct bundle *bucket = n ? bundle_at(c, rank, at) : NULL;
        if (bucket)
            append(c, bucket, *run, n);
    }
    *counter += run->count;
}

static void open_buckets(struct contents *c, unsigned rank,
                         const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = &c->program->rank[rank].deals[op->deal];
    dcoll_place_t at = op->dst;
    for (unsigned b = 0; b < deal->fan; b++, at.offset += deal->stride) {
        struct bundle *bucket = bundle_at(c, rank, at);
        if (!bucket)
            return;
        bucket->count = 0;
        bucket->bytes = BUNDLE_HEAD;
    }
    for (unsigned j = 0; j < c->nranks; j++)
        c->holders[rank].counter[j] = deal_begin(deal, j);
}

static double deal(struct contents *c, unsigned rank, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = &c->program->rank[rank].deals[op->deal];
    const uint64_t *counts = c->program->counts + (size_t)rank * c->nranks;
    double elements = 0;
    if (deal->opens)
        open_buckets(c, rank, op);
    if (op->src.space == DCOLL_SEND) {
        for (unsigned j = 0; j < c->nranks; j++) {
            struct bundle_run run = {j, rank, 0, (uint32_t)counts[j]};
            if (run.count)
                deal_run(c, rank, op, &run);
            elements += run.count;
        }
        return elements * (double)c->traffic->element;
    }
    const struct bundle *src = bundle_at(c, rank, op->src);
    for (unsigned i = 0; src && i < src->count; i++) {
        deal_run(c, rank, op, &src->runs[i]);
        elements += src->runs[i].count;
    }
    return elements * (double)c->traffic->element;
}

static double deliver(struct contents *c, unsigned rank)
{
    double bytes = 0;
    for (unsigned from = 0; from < c->nranks; from++)
        bytes += counted(c, from, rank);
    return bytes;
}

/* -------------------------------------------------------------- tables --- */

static bool same_node(const struct contents *c, unsigned a, unsigned b)
{
    const dcoll_shape_t *shape = c->program->shape;
    return dcoll_shape_node(shape, a) == dcoll_shape_node(shape, b);
}

static double least_pulled(const struct contents *c, unsigned rank)
{
    double largest = 0;
    for (unsigned to = 0; to < c->nranks; to++)
        if (to != rank && same_node(c, rank, to) &&
            counted(c, rank, to) > largest)
            largest = counted(c, rank, to);
    return (double)offer_least_pulled(c->traffic->pulled, false,
                                      (size_t)largest);
}

/* Stays the part in SEND? As coll/run/irregular/offer.c decides. */
static double offer(struct contents *c, unsigned rank, const dcoll_op_t *op)
{
    const dcoll_traffic_t *t = c->traffic;
    double table = (double)offer_table(c->nranks), used = table;
    double least = least_pulled(c, rank);
    memset(c->holders[rank].pulled, 0, c->nranks * sizeof(bool));
    if (op->dst.space == DCOLL_TEMP)
        return 0;
    for (unsigned to = 0; to < c->nranks; to++) {
        double bytes = counted(c, rank, to);
        if (!bytes || (to == rank && t->labelled))
            continue;
        if (t->labelled && same_node(c, rank, to) &&
            (bytes >= least || bytes > (double)op->bytes - used))
            c->holders[rank].pulled[to] = true;
        else
            used += bytes;
    }
    return used - table;
}

static double pack(struct contents *c, unsigned rank, const dcoll_op_t *op)
{
    const dcoll_shape_t *shape = c->program->shape;
    const unsigned *mine = shape->node_begin + dcoll_shape_node(shape, rank);
    const unsigned *theirs =
        shape->node_begin + dcoll_shape_node(shape, op->peer);
    struct bundle *b = bundle_at(c, rank, op->dst);
    if (!b)
        return 0;
    b->bytes = (double)offer_section(mine[1] - mine[0], theirs[1] - theirs[0]);
    for (unsigned from = mine[0]; from < mine[1]; from++)
        for (unsigned to = theirs[0]; to < theirs[1]; to++)
            b->bytes += counted(c, from, to);
    return b->bytes;
}

/* ------------------------------------------------------------ messages --- */

/* Moves the bundle src of one rank to a place of another. */
static double carry(struct contents *c, unsigned rank, unsigned to,
                    const dcoll_op_t *op)
{
    const struct bundle *src = bundle_at(c, rank, op->src);
    struct bundle *dst = src ? bundle_at(c, to, op->dst) : NULL;
    if (!dst)
        return 0;
    dst->count = 0;
    dst->bytes = BUNDLE_HEAD;
    for (unsigned i = 0; i < src->count; i++)
        append(c, dst, src->runs[i], src->runs[i].count);
    return src->bytes;
}

static double move(struct contents *c, unsigned rank, const dcoll_op_t *op)
{
    switch (op->kind) {
    case DCOLL_PUT:
        if (op->sized && op->src.space == DCOLL_SEND)
            return counted(c, rank, op->peer);
        return op->sized ? carry(c, rank, op->peer, op) : (double)op->bytes;
    case DCOLL_COPY:
        return op->sized ? carry(c, rank, rank, op) : (double)op->bytes;
    case DCOLL_DISTRIBUTE:
    case DCOLL_COLLECT:
        return deal(c, rank, op);
    case DCOLL_DELIVER:
        return deliver(c, rank);
    case DCOLL_OFFER:
        return offer(c, rank, op);
    case DCOLL_PACK:
        return pack(c, rank, op);
    case DCOLL_PICK:
        return counted(c, op->peer, rank);
    case DCOLL_EXPECT:
        return 0;
    default:
        return (double)op->bytes;
    }
}

double contents_move(struct contents *c, unsigned rank, const dcoll_op_t *op)
{
    double bytes = move(c, rank, op);
    return c->failed ? DRAIL_ENOMEM : bytes;
}

bool contents_pulled(const struct contents *c, unsigned rank, unsigned to)
{
    return c->holders[rank].pulled[to];
}
