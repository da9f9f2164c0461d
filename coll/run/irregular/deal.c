/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dealing elements to buckets, and delivering them. What is in a bundle arrived
 * from a peer: nothing in it is believed before it has been looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/build/bundle.h"
#include "coll/build/deal.h"
#include "coll/run/request.h"

int dealing_open(struct dealing *d, unsigned nranks)
{
    d->counter = calloc(nranks, sizeof *d->counter);
    d->bucket = calloc(nranks, sizeof *d->bucket);
    d->dealt = calloc(nranks, sizeof *d->dealt);
    d->arrived = calloc(nranks, sizeof *d->arrived);
    d->offers = calloc(nranks, sizeof *d->offers);
    d->pulled = calloc(nranks, sizeof *d->pulled);
    return d->counter && d->bucket && d->dealt && d->arrived && d->offers &&
                   d->pulled
               ? 0
               : DRAIL_ENOMEM;
}

void dealing_close(struct dealing *d)
{
    free(d->counter);
    free(d->bucket);
    free(d->dealt);
    free(d->arrived);
    free(d->offers);
    free(d->pulled);
}

/* Read once: its writer may go on changing it. */
static struct bundle_head read_head(const unsigned char *bundle)
{
    const volatile struct bundle_head *head =
        (const volatile struct bundle_head *)bundle;
    return (struct bundle_head){head->bytes, head->lost};
}

size_t bundle_length(const unsigned char *bundle, size_t room)
{
    const struct bundle_head head = read_head(bundle);
    if (head.bytes < BUNDLE_HEAD || head.bytes > room)
        return 0;
    return head.lost ? room : head.bytes;
}

/* ------------------------------------------------------------- reading --- */

/* A run, or an element without a label. */
struct parcel {
    struct bundle_run run;
    const unsigned char *elements;
};

struct reader {
    const dcoll_request_t *q;
    const unsigned char *at;
    size_t left;
    const unsigned char *lost; /* a bit for each rank; NULL: nothing is */
    bool malformed;
};

static bool labelled(const dcoll_request_t *q)
{
    return q->traffic.labelled;
}

static struct reader reader_of(const dcoll_request_t *q,
                               const unsigned char *bundle, size_t room)
{
    const struct bundle_head head = read_head(bundle);
    size_t end = room - bundle_marks(q->team->shape.nranks);
    bool sound = head.bytes >= BUNDLE_HEAD && head.bytes <= end;
    return (struct reader){.q = q,
                           .at = bundle + BUNDLE_HEAD,
                           .left = sound ? head.bytes - BUNDLE_HEAD : 0,
                           .lost = head.lost ? bundle + end : NULL,
                           .malformed = !sound};
}

/* Are elements for that rank missing? */
static bool lacks(const struct reader *r, unsigned rank)
{
    return r->lost && r->lost[rank / 8] >> rank % 8 & 1;
}

/* False: there is no more, or it is malformed. */
static bool next_parcel(struct reader *r, struct parcel *parcel)
{
    const dcoll_request_t *q = r->q;
    size_t head = labelled(q) ? BUNDLE_RUN : 0, element = q->traffic.element;
    unsigned n = q->team->shape.nranks;
    if (!r->left)
        return false;
    r->malformed = r->left < head + element;
    if (r->malformed)
        return false;
    if (labelled(q))
        memcpy(&parcel->run, r->at, BUNDLE_RUN);
    else
        parcel->run = (struct bundle_run){
            elements_destination(&q->elements, r->at), 0, 0, 1};
    parcel->elements = r->at + head;
    r->malformed = parcel->run.dst >= n || parcel->run.src >= n ||
                   !parcel->run.count ||
                   parcel->run.count > (r->left - head) / element;
    if (r->malformed)
        return false;
    size_t bytes = head + parcel->run.count * element;
    r->at += bytes;
    r->left -= bytes;
    return true;
}

static int fail_malformed(const dcoll_request_t *q)
{
    return team_fail(q->team, DRAIL_EINVAL,
                     "%s: a malformed bundle has come: ranks disagree on "
                     "elements or bounds",
                     q->algorithm->name);
}

/* ------------------------------------------------------------- dealing --- */

/* Of one operation. */
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

/* Whoever gets the bucket goes on to tell it. */
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

/* The first `count` elements of the parcel. There is room for what may be
 * dealt, but if peers do what they may not. */
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

/* Each bucket gets its part, one after the other. */
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

/* Of the next element for that rank. */
static unsigned bucket_of(const struct dealer *x, uint32_t dst)
{
    const struct dealing *d = &x->q->dealing;
    return d->bucket[x->evenly ? d->counter[dst] : dst];
}

/* As much of it as may be for one destination. */
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

static int deal_bundle(const struct dealer *x, struct reader r)
{
    struct parcel parcel;
    while (next_parcel(&r, &parcel))
        deal_parcel(x, parcel);
    if (r.malformed)
        return fail_malformed(x->q);
    for (unsigned j = 0; r.lost && j < x->q->team->shape.nranks; j++)
        if (lacks(&r, j))
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
        return deal_bundle(&x, reader_of(q, address(q, op->src), op->bytes));
    if (labelled(q))
        deal_counted(&x);
    else
        deal_unlabelled(&x);
    return 0;
}

/* ---------------------------------------------------------- delivering --- */

/* Of one operation: the bundles. */
struct arrivals {
    dcoll_request_t *q;
    const dcoll_deal_t *deal;
    const unsigned char *bundles;
};

typedef bool visit(dcoll_request_t *q, const struct parcel *parcel);

/* False: something is malformed. */
static bool each_parcel(const struct arrivals *a, visit *f)
{
    for (unsigned i = 0; i < a->deal->fan; i++) {
        struct reader r =
            reader_of(a->q, a->bundles + i * a->deal->stride, a->deal->stride);
        struct parcel parcel;
        while (next_parcel(&r, &parcel))
            if (!f(a->q, &parcel))
                return false;
        if (r.malformed)
            return false;
    }
    return true;
}

static bool count_parcel(dcoll_request_t *q, const struct parcel *parcel)
{
    q->dealing.arrived[parcel->run.src] += parcel->run.count;
    return parcel->run.dst == q->team->rank;
}

/* Is the run within what arrived from its source? */
static bool is_within(const uint64_t *arrived, const struct parcel *parcel)
{
    uint64_t end = (uint64_t)parcel->run.first + parcel->run.count;
    return end <= arrived[parcel->run.src];
}

static bool check_parcel(dcoll_request_t *q, const struct parcel *parcel)
{
    return is_within(q->dealing.arrived, parcel);
}

/* Its writer may have changed it since it was checked. */
static bool place_parcel(dcoll_request_t *q, const struct parcel *parcel)
{
    uint64_t at = q->dealing.arrived[parcel->run.src] + parcel->run.first;
    if (!is_within(q->dealing.dealt, parcel))
        return false;
    memcpy(q->elements.recv + at * q->traffic.element, parcel->elements,
           parcel->run.count * q->traffic.element);
    return true;
}

static int deliver_labelled(const struct arrivals *a)
{
    dcoll_request_t *q = a->q;
    size_t bytes = q->team->shape.nranks * sizeof *q->dealing.arrived;
    memset(q->dealing.arrived, 0, bytes);
    if (!each_parcel(a, count_parcel) || !each_parcel(a, check_parcel))
        return fail_malformed(q);
    q->dealing.start_error = elements_check_arrived(q);
    if (q->dealing.start_error)
        return 0;
    /* nothing is dealt any more: the limits of what is placed */
    memcpy(q->dealing.dealt, q->dealing.arrived, bytes);
    elements_place(q);
    return each_parcel(a, place_parcel) ? 0 : fail_malformed(q);
}

/* The elements of a bundle. False: it is malformed. */
static bool payload(const struct arrivals *a, unsigned index,
                    const unsigned char **elements, size_t *bytes)
{
    struct reader r =
        reader_of(a->q, a->bundles + index * a->deal->stride, a->deal->stride);
    *elements = r.at;
    *bytes = r.left;
    return !r.malformed && r.left % a->q->traffic.element == 0;
}

static int deliver_unlabelled(const struct arrivals *a)
{
    dcoll_request_t *q = a->q;
    const unsigned char *from;
    unsigned char *next = q->elements.recv;
    size_t bytes, left, total = 0;
    for (unsigned i = 0; i < a->deal->fan; i++) {
        if (!payload(a, i, &from, &bytes))
            return fail_malformed(q);
        total += bytes / q->traffic.element;
    }
    memset(q->dealing.arrived, 0,
           q->team->shape.nranks * sizeof *q->dealing.arrived);
    q->dealing.arrived[0] = total;
    q->dealing.start_error = elements_check_arrived(q);
    if (q->dealing.start_error)
        return 0;
    left = total * q->traffic.element;
    for (unsigned i = 0; i < a->deal->fan; i++) {
        if (!payload(a, i, &from, &bytes) || bytes > left)
            return fail_malformed(q); /* changed since it was checked */
        left -= bytes;
        if (bytes)
            platform_copy(q->team->platform, next, from, bytes);
        next += bytes;
    }
    elements_place(q);
    return 0;
}

/* Has something for this rank been left out? */
static bool lost(const struct arrivals *a)
{
    bool any = false;
    for (unsigned i = 0; i < a->deal->fan; i++) {
        struct reader r =
            reader_of(a->q, a->bundles + i * a->deal->stride, a->deal->stride);
        any = any || lacks(&r, a->q->team->rank);
    }
    return any;
}

static int judge_lost(const dcoll_request_t *q)
{
    return team_fail(q->team, DRAIL_EINVAL,
                     "rank %u: more elements are for it than the bound "
                     "max_rank, which is %llu: nothing was written",
                     q->team->rank, (unsigned long long)q->traffic.max_rank);
}

int deliver_elements(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct arrivals a = {q, &q->schedule.deals[op->deal],
                               address(q, op->src)};
    if (lost(&a)) {
        q->dealing.start_error = judge_lost(q);
        return 0;
    }
    return labelled(q) ? deliver_labelled(&a) : deliver_unlabelled(&a);
}
