/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DELIVER: moves the elements of bundles to their places in RECV. All bundles
 * are checked before anything is written.
 */
#include <string.h>

#include "coll/run/irregular/bundle_reader.h"
#include "coll/run/irregular/deal.h"

/* The bundles of one operation. */
struct arrivals {
    dcoll_request_t *q;
    const dcoll_deal_t *deal;
    const unsigned char *bundles;
};

typedef bool visit(dcoll_request_t *q, const struct parcel *parcel);

/* Calls f for each parcel. False: a bundle is malformed, or f returned false.
 */
static bool each_parcel(const struct arrivals *a, visit *f)
{
    for (unsigned i = 0; i < a->deal->fan; i++) {
        struct bundle_reader r = bundle_reader_open(
            a->q, a->bundles + i * a->deal->stride, a->deal->stride);
        struct parcel parcel;
        while (bundle_reader_next(&r, &parcel))
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

/* Is the run within the elements that its source has sent? */
static bool is_within(const uint64_t *arrived, const struct parcel *parcel)
{
    uint64_t end = (uint64_t)parcel->run.first + parcel->run.count;
    return end <= arrived[parcel->run.src];
}

static bool check_parcel(dcoll_request_t *q, const struct parcel *parcel)
{
    return is_within(q->dealing.arrived, parcel);
}

/* The peer may have changed the bundle since it was checked: check again. */
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
        return bundle_fail_malformed(q);
    q->dealing.start_error = elements_check_arrived(q);
    if (q->dealing.start_error)
        return 0;
    /* dealing is over: dealt now holds the limits for place_parcel() */
    memcpy(q->dealing.dealt, q->dealing.arrived, bytes);
    elements_place(q);
    return each_parcel(a, place_parcel) ? 0 : bundle_fail_malformed(q);
}

/* Finds the elements of a bundle. False: it is malformed. */
static bool payload(const struct arrivals *a, unsigned index,
                    const unsigned char **elements, size_t *bytes)
{
    struct bundle_reader r = bundle_reader_open(
        a->q, a->bundles + index * a->deal->stride, a->deal->stride);
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
            return bundle_fail_malformed(q);
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
            return bundle_fail_malformed(
                q); /* it has changed since it was checked */
        left -= bytes;
        if (bytes)
            platform_copy(q->team->platform, next, from, bytes);
        next += bytes;
    }
    elements_place(q);
    return 0;
}

/* Are elements for this rank missing from a bundle? */
static bool lost(const struct arrivals *a)
{
    bool any = false;
    for (unsigned i = 0; i < a->deal->fan; i++) {
        struct bundle_reader r = bundle_reader_open(
            a->q, a->bundles + i * a->deal->stride, a->deal->stride);
        any = any || bundle_reader_lacks(&r, a->q->team->rank);
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
    return q->traffic.labelled ? deliver_labelled(&a) : deliver_unlabelled(&a);
}
