/* SPDX-License-Identifier: BSD-3-Clause */
/* DISTRIBUTE and COLLECT: deal elements to buckets (build/irregular/deal.h). */
#include <string.h>

#include "coll/build/irregular/deal.h"
#include "coll/run/irregular/bundle_reader.h"
#include "coll/run/irregular/deal.h"

/* One operation. */
struct dealer {
    dcoll_request_t *q;
    const dcoll_deal_t *deal;
    bool evenly;
    unsigned char *buckets;
};

static void open_buckets(const struct dealer *x)
{
    struct dealing *d = &x->q->dealing;
    for (unsigned b = 0; b < x->deal->fan; b++)
        *(struct bundle_head *)(x->buckets + b * x->deal->stride) =
            (struct bundle_head){BUNDLE_HEAD, 0};
    for (unsigned j = 0; j < x->q->team->shape.nranks; j++) {
        d->dealt[j] = 0;
        d->counter[j] = (uint32_t)deal_begin(x->deal, j) % x->deal->period;
        d->bucket[j] =
            x->evenly ? deal_next(x->deal, j) : deal_bucket(x->deal, j);
    }
}

static struct bundle_head *head_of(const struct dealer *x, unsigned bucket)
{
    return (struct bundle_head *)(x->buckets + bucket * x->deal->stride);
}

/* Records in the bucket that elements for dst are missing; the ranks that it
 * passes through hand that on. */
static void lose(const struct dealer *x, unsigned bucket, uint32_t dst)
{
    struct bundle_head *head = head_of(x, bucket);
    size_t bytes = bundle_marks(x->q->team->shape.nranks);
    unsigned char *marks = (unsigned char *)head + x->deal->stride - bytes;
    if (!head->lost)
        memset(marks, 0, bytes);
    head->lost = 1;
    marks[dst / 8] |= (unsigned char)(1u << dst % 8);
}

/* Adds the first `count` elements of the parcel. They lack room only if a peer
 * has sent more than the bounds allow. */
static void append(const struct dealer *x, unsigned bucket,
                   const struct parcel *parcel, uint32_t count)
{
    const dcoll_traffic_t *t = &x->q->traffic;
    struct bundle_head *head = head_of(x, bucket);
    unsigned char *end = (unsigned char *)head + head->bytes;
    size_t room = x->deal->stride - bundle_marks(x->q->team->shape.nranks);
    size_t label = t->labelled ? BUNDLE_RUN : 0;
    size_t bytes = label + count * t->element;
    if (bytes > room - head->bytes) {
        lose(x, bucket, parcel->run.dst);
        return;
    }
    if (label) {
        struct bundle_run run = parcel->run;
        run.count = count;
        memcpy(end, &run, sizeof run);
    }
    memcpy(end + label, parcel->elements, bytes - label);
    head->bytes += bytes;
}

static void advance(const struct dealer *x, uint32_t dst, uint64_t count)
{
    uint32_t *counter = &x->q->dealing.counter[dst];
    if (count == 1)
        *counter = *counter + 1 == x->deal->period ? 0 : *counter + 1;
    else
        *counter = (uint32_t)((*counter + count) % x->deal->period);
}

/* Gives each bucket its part of the parcel. */
static void deal_slices(const struct dealer *x, struct parcel parcel)
{
    uint32_t counter = x->q->dealing.counter[parcel.run.dst];
    uint32_t count = parcel.run.count;
    for (unsigned b = 0; b < x->deal->fan; b++) {
        uint32_t n = (uint32_t)deal_share(x->deal, counter, count, b);
        if (!n)
            continue;
        append(x, b, &parcel, n);
        parcel.run.first += n;
        parcel.elements += n * x->q->traffic.element;
    }
}

/* The bucket of the next element for that rank. */
static unsigned bucket_of(const struct dealer *x, uint32_t dst)
{
    const struct dealing *d = &x->q->dealing;
    return d->bucket[x->evenly ? d->counter[dst] : dst];
}

/* Deals the parcel, but not more than deal.most for one destination. */
static void deal_parcel(const struct dealer *x, struct parcel parcel)
{
    uint32_t dst = parcel.run.dst;
    uint64_t *dealt = &x->q->dealing.dealt[dst];
    if (parcel.run.count > x->deal->most - *dealt) {
        lose(x, bucket_of(x, dst), dst);
        parcel.run.count = (uint32_t)(x->deal->most - *dealt);
    }
    uint32_t count = parcel.run.count;
    if (!count)
        return;
    *dealt += count;
    if (x->evenly && count > 1)
        deal_slices(x, parcel);
    else
        append(x, bucket_of(x, dst), &parcel, count);
    if (x->evenly)
        advance(x, dst, count);
}

static void deal_counted(const struct dealer *x)
{
    const struct elements *e = &x->q->elements;
    unsigned n = x->q->team->shape.nranks, me = x->q->team->rank;
    size_t next = 0;
    for (unsigned j = 0; j < n; j++) {
        uint32_t count = (uint32_t)e->send_counts[j];
        if (!count)
            continue; /* its place may be anywhere */
        size_t at = e->send_displs ? e->send_displs[j] : next;
        next = at + count;
        deal_parcel(
            x, (struct parcel){{j, me, 0, count}, e->send + at * e->element});
    }
}

static void deal_unlabelled(const struct dealer *x)
{
    const struct elements *e = &x->q->elements;
    struct parcel parcel = {{0, 0, 0, 1}, e->send};
    size_t count = elements_count(e);
    for (size_t i = 0; i < count; i++) {
        parcel.run.dst = elements_destination(e, parcel.elements);
        deal_parcel(x, parcel);
        parcel.elements += e->element;
    }
}

static int deal_bundle(const struct dealer *x, struct bundle_reader r)
{
    struct parcel parcel;
    while (bundle_reader_next(&r, &parcel))
        deal_parcel(x, parcel);
    if (r.malformed)
        return bundle_fail_malformed(x->q);
    for (unsigned j = 0; r.lost && j < x->q->team->shape.nranks; j++)
        if (bundle_reader_lacks(&r, j))
            lose(x, bucket_of(x, j), j);
    return 0;
}

int deal_elements(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct dealer x = {.q = q,
                             .deal = &q->schedule.deals[op->deal],
                             .evenly = op->kind == DCOLL_DISTRIBUTE,
                             .buckets = address(q, op->dst)};
    if (x.deal->opens)
        open_buckets(&x);
    if (op->src.space != DCOLL_SEND)
        return deal_bundle(
            &x, bundle_reader_open(q, address(q, op->src), op->bytes));
    if (q->traffic.labelled)
        deal_counted(&x);
    else
        deal_unlabelled(&x);
    return 0;
}
