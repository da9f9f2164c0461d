/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dealing elements to buckets, and delivering them. What is in a bundle came
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
    d->came = calloc(nranks, sizeof *d->came);
    d->offers = calloc(nranks, sizeof *d->offers);
    return d->counter && d->bucket && d->came && d->offers ? 0 : DRAIL_ENOMEM;
}

void dealing_close(struct dealing *d)
{
    free(d->counter);
    free(d->bucket);
    free(d->came);
    free(d->offers);
}

size_t bundle_length(const unsigned char *bundle, size_t room)
{
    uint64_t bytes = ((const struct bundle_head *)bundle)->bytes;
    return bytes >= BUNDLE_HEAD && bytes <= room ? bytes : 0;
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
    bool malformed;
};

static bool labelled(const dcoll_request_t *q)
{
    return q->traffic.labelled;
}

static struct reader reader_of(const dcoll_request_t *q,
                               const unsigned char *bundle, size_t room)
{
    size_t bytes = bundle_length(bundle, room);
    return (struct reader){q, bundle + BUNDLE_HEAD,
                           bytes ? bytes - BUNDLE_HEAD : 0, !bytes};
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
        d->counter[j] = (uint32_t)deal_begin(x->deal, j) % x->deal->period;
        d->bucket[j] =
            x->evenly ? deal_next(x->deal, j) : deal_bucket(x->deal, j);
    }
}

static int fail_room(const dcoll_request_t *q, uint32_t dst)
{
    return team_fail(q->team, DRAIL_EINVAL,
                     "%s: no room for what is for rank %u: a rank sends, or "
                     "receives, more than the bound max_rank, which is %llu",
                     q->algorithm->name, dst,
                     (unsigned long long)q->traffic.max_rank);
}

/* The first `count` elements of the parcel. */
static int append(const struct dealer *x, unsigned bucket,
                  const struct parcel *parcel, uint32_t count)
{
    const dcoll_traffic_t *t = &x->q->traffic;
    unsigned char *base = x->buckets + bucket * x->deal->stride;
    struct bundle_head *head = (struct bundle_head *)base;
    size_t label = t->labelled ? BUNDLE_RUN : 0;
    size_t bytes = label + count * t->element;
    if (bytes > x->deal->stride - head->bytes)
        return fail_room(x->q, parcel->run.dst);
    if (label) {
        struct bundle_run run = parcel->run;
        run.count = count;
        memcpy(base + head->bytes, &run, sizeof run);
    }
    memcpy(base + head->bytes + label, parcel->elements, bytes - label);
    head->bytes += bytes;
    head->elements += count;
    return 0;
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
static int deal_slices(const struct dealer *x, struct parcel parcel)
{
    uint32_t counter = x->q->dealing.counter[parcel.run.dst];
    uint32_t count = parcel.run.count;
    int rc = 0;
    for (unsigned b = 0; !rc && b < x->deal->fan; b++) {
        uint32_t n = (uint32_t)deal_share(x->deal, counter, count, b);
        if (!n)
            continue;
        rc = append(x, b, &parcel, n);
        parcel.run.first += n;
        parcel.elements += n * x->q->traffic.element;
    }
    return rc;
}

static int deal_parcel(const struct dealer *x, const struct parcel *parcel)
{
    const struct dealing *d = &x->q->dealing;
    uint32_t dst = parcel->run.dst, count = parcel->run.count;
    if (!x->evenly)
        return append(x, d->bucket[dst], parcel, count);
    int rc = count == 1 ? append(x, d->bucket[d->counter[dst]], parcel, 1)
                        : deal_slices(x, *parcel);
    advance(x, dst, count);
    return rc;
}

static int deal_counted(const struct dealer *x)
{
    const struct elements *e = &x->q->elements;
    unsigned n = x->q->team->shape.nranks, me = x->q->team->rank;
    size_t next = 0;
    int rc = 0;
    for (unsigned j = 0; !rc && j < n; j++) {
        uint32_t count = (uint32_t)e->send_counts[j];
        if (!count)
            continue; /* its place may be anywhere */
        size_t at = e->send_displs ? e->send_displs[j] : next;
        next = at + count;
        rc = deal_parcel(
            x, &(struct parcel){{j, me, 0, count}, e->send + at * e->element});
    }
    return rc;
}

static int deal_unlabelled(const struct dealer *x)
{
    const struct elements *e = &x->q->elements;
    struct parcel parcel = {{0, 0, 0, 1}, e->send};
    size_t count = elements_count(e);
    int rc = 0;
    for (size_t i = 0; !rc && i < count; i++) {
        parcel.run.dst = elements_destination(e, parcel.elements);
        rc = deal_parcel(x, &parcel);
        parcel.elements += e->element;
    }
    return rc;
}

int deal_elements(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct dealer x = {.q = q,
                             .deal = &q->schedule.deals[op->deal],
                             .evenly = op->kind == DCOLL_DISTRIBUTE,
                             .buckets = address(q, op->dst)};
    struct parcel parcel;
    int rc = 0;
    if (x.deal->opens)
        open_buckets(&x);
    if (op->src.space == DCOLL_SEND)
        return labelled(q) ? deal_counted(&x) : deal_unlabelled(&x);
    struct reader r = reader_of(q, address(q, op->src), op->bytes);
    while (!rc && next_parcel(&r, &parcel))
        rc = deal_parcel(&x, &parcel);
    return rc ? rc : r.malformed ? fail_malformed(q) : 0;
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
    q->dealing.came[parcel->run.src] += parcel->run.count;
    return parcel->run.dst == q->team->rank;
}

static bool place_parcel(dcoll_request_t *q, const struct parcel *parcel)
{
    uint64_t at = q->dealing.came[parcel->run.src] + parcel->run.first;
    memcpy(q->elements.recv + at * q->traffic.element, parcel->elements,
           parcel->run.count * q->traffic.element);
    return true;
}

/* Is each run within what came from its source? */
static bool check_parcel(dcoll_request_t *q, const struct parcel *parcel)
{
    uint64_t end = (uint64_t)parcel->run.first + parcel->run.count;
    return end <= q->dealing.came[parcel->run.src];
}

static int deliver_labelled(const struct arrivals *a)
{
    dcoll_request_t *q = a->q;
    memset(q->dealing.came, 0, q->team->shape.nranks * sizeof *q->dealing.came);
    if (!each_parcel(a, count_parcel) || !each_parcel(a, check_parcel))
        return fail_malformed(q);
    q->dealing.verdict = elements_judge(q);
    if (q->dealing.verdict)
        return 0;
    elements_place(q);
    each_parcel(a, place_parcel);
    return 0;
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
    size_t bytes, total = 0;
    for (unsigned i = 0; i < a->deal->fan; i++) {
        if (!payload(a, i, &from, &bytes))
            return fail_malformed(q);
        total += bytes / q->traffic.element;
    }
    memset(q->dealing.came, 0, q->team->shape.nranks * sizeof *q->dealing.came);
    q->dealing.came[0] = total;
    q->dealing.verdict = elements_judge(q);
    if (q->dealing.verdict)
        return 0;
    for (unsigned i = 0; i < a->deal->fan; i++) {
        payload(a, i, &from, &bytes);
        if (bytes)
            memcpy(next, from, bytes);
        next += bytes;
    }
    elements_place(q);
    return 0;
}

int deliver_elements(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct arrivals a = {q, &q->schedule.deals[op->deal],
                               address(q, op->src)};
    return labelled(q) ? deliver_labelled(&a) : deliver_unlabelled(&a);
}
