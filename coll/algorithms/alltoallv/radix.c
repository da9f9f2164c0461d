/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck's all-to-all for parts of any sizes, to a base r that depends on the
 * mean part (TuNA: Fan et al. 2024, arXiv 2411.02581, for k = 1). The distance
 * from a rank to a destination is a number to the base r. In the stage of a
 * digit of weight w, elements whose distance has digit d there go d * w ranks
 * further: ⌈(r-1)/k⌉ steps for each digit.
 *
 * TEMP, the same on all ranks: for each stage the buckets to send, then the
 * bundles received. Of depth 2: a rank that has finished a start has bundles
 * that depend on all ranks, so it knows that they have begun that start.
 */
#include "dapl_rail/dapl_rail.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/bruck_alltoall.h"
#include "coll/build/flat.h"
#include "coll/build/irregular/bundle.h"
#include "coll/build/irregular/stages.h"

/* The state of generating the schedule of one rank. */
struct digit_stage {
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    unsigned rank, radix;
    dcoll_schedule_t *s;
    /* of the stage */
    size_t weight;
    unsigned digits; /* of distances: 0 … digits - 1 */
    size_t room;     /* of a message */
    size_t begin;    /* of its memory */
};

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* How many distances have digit 0, the most common one: each is that of one
 * sender and one destination whose elements share a bucket. */
static double pairs(const struct digit_stage *x)
{
    const size_t n = x->shape->nranks, turn = x->weight * x->radix;
    const size_t rest = n % turn;
    return (double)(n / turn * x->weight +
                    (rest < x->weight ? rest : x->weight));
}

static struct stage_bound bound_of(const struct digit_stage *x)
{
    const dcoll_traffic_t *t = x->args->traffic;
    const double most = pairs(x), n = x->shape->nranks;
    const double weight = (double)x->weight, rank = (double)t->max_rank;
    const double turns = n / (weight * x->radix) + 1;
    const double ends = lesser(weight, turns);
    const double elements = lesser(most * (double)t->max_pair, ends * rank);
    return (struct stage_bound){elements, lesser(elements, most), {0}};
}

/* False: too much memory. */
static bool open_stage(struct digit_stage *x, size_t weight, size_t begin)
{
    const unsigned n = x->shape->nranks;
    x->weight = weight;
    x->digits = 1 + bruck_alltoall_digits(n, (unsigned)weight, x->radix);
    const struct stage_bound bound = bound_of(x);
    x->room = stages_room(&bound, x->args->traffic, n);
    x->begin = begin;
    x->s->temp_bytes = begin + 2 * x->digits * x->room;
    return x->room;
}

static dcoll_place_t bucket_at(const struct digit_stage *x, unsigned digit)
{
    return dcoll_at(DCOLL_TEMP, x->begin + digit * x->room);
}

static dcoll_place_t place_at(const struct digit_stage *x, unsigned digit)
{
    return bucket_at(x, x->digits + digit);
}

static void deal(const struct digit_stage *x, dcoll_place_t src, size_t room,
                 bool opens)
{
    const dcoll_traffic_t *t = x->args->traffic;
    const unsigned n = x->shape->nranks;
    const double sent = (double)x->weight * (double)t->max_pair;
    const dcoll_deal_t by_digit = {.fan = x->digits,
                                   .stride = x->room,
                                   .opens = opens,
                                   .period = n,
                                   .divisor = (unsigned)x->weight,
                                   .ring = n,
                                   .origin = x->rank,
                                   .most = sent < (double)t->max_rank
                                               ? x->weight * t->max_pair
                                               : t->max_rank};
    dcoll_add_deal(x->s, DCOLL_COLLECT, src, room, bucket_at(x, 0), &by_digit);
}

static unsigned peer(const struct digit_stage *x, unsigned digit, bool after)
{
    const unsigned distance = digit * (unsigned)x->weight;
    return after ? flat_after(x->shape->nranks, x->rank, distance)
                 : flat_before(x->shape->nranks, x->rank, distance);
}

static void send(const struct digit_stage *x, unsigned digit,
                 unsigned first_step)
{
    const unsigned k = x->shape->ports, port = (digit - 1) % k;
    x->s->step = (uint16_t)(first_step + (digit - 1) / k);
    dcoll_add_put(x->s, peer(x, digit, true), port, bucket_at(x, digit),
                  place_at(x, digit), x->room);
    dcoll_add_sized(x->s);
}

/* The bundles of the stage before that may have elements for a bucket: their
 * distances have both digits, and are less than the number of ranks. */
static unsigned sources(const struct digit_stage *x,
                        const struct digit_stage *before, unsigned digit)
{
    const size_t left = x->shape->nranks - digit * x->weight;
    const size_t count = (left + before->weight - 1) / before->weight;
    return count < before->digits ? (unsigned)count : before->digits;
}

/* Deals what has been received in the stage before, as it comes. Sends a bucket
 * after the last bundle that may have something for it. */
static void pass_on(const struct digit_stage *x,
                    const struct digit_stage *before, unsigned first_step)
{
    for (unsigned d = 0; d < before->digits; d++) {
        if (d)
            dcoll_add_wait(x->s, peer(before, d, false), DCOLL_DATA, 0);
        deal(x, d ? place_at(before, d) : bucket_at(before, 0), before->room,
             d == 0);
        for (unsigned to = 1; to < x->digits; to++)
            if (sources(x, before, to) == d + 1)
                send(x, to, first_step);
    }
}

static void begin(const struct digit_stage *x)
{
    deal(x, dcoll_at(DCOLL_SEND, 0), 0, true);
    for (unsigned to = 1; to < x->digits; to++)
        send(x, to, 0);
}

/* After the last stage. */
static void deliver(const struct digit_stage *x)
{
    const dcoll_deal_t all = {.fan = x->digits, .stride = x->room};
    dcoll_add_copy(x->s, bucket_at(x, 0), place_at(x, 0), x->room);
    dcoll_add_sized(x->s);
    for (unsigned d = 1; d < x->digits; d++)
        dcoll_add_wait(x->s, peer(x, d, false), DCOLL_DATA, 0);
    dcoll_add_deal(x->s, DCOLL_DELIVER, place_at(x, 0), 0,
                   dcoll_at(DCOLL_RECV, 0), &all);
    flat_complete(x->s);
}

/* Of the mean part of the rank that sends or receives most. */
static unsigned radix_for(const dcoll_shape_t *shape,
                          const dcoll_traffic_t *traffic)
{
    const double bytes = (double)traffic->max_rank * (double)traffic->element;
    return bruck_alltoall_radix(shape, (size_t)(bytes / shape->nranks));
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct digit_stage x = {.shape = shape,
                            .args = args,
                            .rank = rank,
                            .radix = radix_for(shape, args->traffic),
                            .s = s};
    unsigned step = 0;
    for (size_t weight = 1; weight == 1 || weight < shape->nranks;
         weight *= x.radix) {
        const struct digit_stage before = x;
        if (!open_stage(&x, weight, s->temp_bytes)) {
            s->error = DRAIL_ENOMEM;
            return;
        }
        s->phase++;
        s->step = (uint16_t)step;
        if (weight == 1)
            begin(&x);
        else
            pass_on(&x, &before, step);
        step += (x.digits - 2 + shape->ports) / shape->ports;
    }
    deliver(&x);
}

const dcoll_algorithm_t alltoallv_radix = {
    .name = "radix",
    .collective = DCOLL_ALLTOALLV,
    .summary = "k-port Bruck to a base that depends on the size (Fan et al. "
               "2024)",
    .memory = "TEMP: for base r and each of ceil(log_r N) digits 2r messages, "
              "each of about N/r parts",
    .depth = 2,
    .refuses = stages_refuse,
    .generate = generate,
};
