/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "bench/limits/cacheline.h"
#include "bench/clock.h"
#include "model.h"
#include "bench/limits/cores.h"
#include "bench/stats/stats.h"

#define SHORT_BYTES  8
#define LONG_BYTES   COLL_BED_MIN
#define SHORT_ROUNDS 200
#define LONG_ROUNDS  20
#define SAMPLES      7
#define LINE_ROUNDS  1000

/* Simulated times are the same each time: one sample is enough. */
static unsigned samples(void)
{
    return clock_elsewhere ? 1 : SAMPLES;
}

static unsigned rounds_of(unsigned rounds)
{
    return clock_elsewhere ? 2 : rounds;
}

typedef struct ends {
    coll_bed_t *bed;
    drail_job_t *job;
    unsigned rank, peer;
    drail_key_t remote;
} ends_t;

static int send_one(const ends_t *ends, size_t bytes)
{
    drail_xfer_t xfer = {.local = ends->bed->send,
                         .local_mem = ends->bed->send_mem,
                         .remote = &ends->remote,
                         .remote_offset = COLL_GUARD,
                         .bytes = bytes};
    int rc = drail_put(ends->bed->rail, ends->peer, &xfer,
                       DRAIL_NOTIFY | DRAIL_ON_RAIL(0), 0, NULL);
    return rc ? rc : drail_fence(ends->bed->rail, ends->peer);
}

static int round_trips(const ends_t *ends, size_t bytes, unsigned rounds)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < rounds; i++) {
        if (ends->rank == 0)
            rc = send_one(ends, bytes);
        if (!rc)
            rc = drail_notify_wait(ends->bed->rail, ends->peer, NULL, -1);
        if (!rc && ends->rank)
            rc = send_one(ends, bytes);
    }
    return rc;
}

/* Microseconds one way, the median of several samples; the first warms up. */
static int one_way(const ends_t *ends, size_t bytes, unsigned rounds,
                   double *us)
{
    double values[SAMPLES];
    rounds = rounds_of(rounds);
    int rc = round_trips(ends, bytes, rounds / 10 + 1);
    for (unsigned i = 0; !rc && i < samples(); i++) {
        uint64_t start = clock_ns();
        rc = round_trips(ends, bytes, rounds);
        values[i] = (double)(clock_ns() - start) / 2e3 / rounds;
    }
    if (!rc)
        *us = stats_summary(values, samples()).median;
    return rc;
}

/* Microseconds per byte of a copy of a buffer that other ranks have written. */
static double copy_us(const coll_bed_t *bed, const struct drail_platform *p)
{
    double values[SAMPLES];
    unsigned rounds = rounds_of(LONG_ROUNDS);
    for (unsigned i = 0; i < samples(); i++) {
        uint64_t start = clock_ns();
        for (unsigned n = 0; n < rounds; n++) {
            p->copy(p, bed->send, bed->recv, LONG_BYTES);
            __asm__ volatile("" ::"r"(bed->send) : "memory");
        }
        values[i] =
            (double)(clock_ns() - start) / 1e3 / rounds / (double)LONG_BYTES;
    }
    return stats_summary(values, samples()).median;
}

/* The same for combining it with the rank's own data. */
static double combine_us(const coll_bed_t *bed, const struct drail_platform *p,
                         const dcoll_reduction_t *r)
{
    double values[SAMPLES];
    unsigned rounds = rounds_of(LONG_ROUNDS);
    for (unsigned i = 0; i < samples(); i++) {
        uint64_t start = clock_ns();
        for (unsigned n = 0; n < rounds; n++)
            if (platform_combine(p, bed->send, bed->recv, bed->send,
                                 LONG_BYTES))
                r->combine(r->context, bed->recv, bed->send, bed->send,
                           LONG_BYTES / r->element);
        values[i] =
            (double)(clock_ns() - start) / 1e3 / rounds / (double)LONG_BYTES;
    }
    return stats_summary(values, samples()).median;
}

/* Measures the link of both ranks over one rail: a port of Hockney's model is a
 * rail. */
static int measure_links(const ends_t *ends, dcoll_cost_model_t *model)
{
    double small = 0, large = 0;
    setup_t one = {.engine = DRAIL_ENGINE_SINGLE, .policy = DRAIL_POLICY_FIXED};
    int rc = coll_bed_switch(ends->bed, &one);
    if (!rc)
        rc = drail_connect(ends->bed->rail, ends->peer);
    if (!rc)
        rc = one_way(ends, SHORT_BYTES, SHORT_ROUNDS, &small);
    if (!rc)
        rc = one_way(ends, LONG_BYTES, LONG_ROUNDS, &large);
    model->tau = fmax(0, large - small) / (double)(LONG_BYTES - SHORT_BYTES);
    model->ts = small - SHORT_BYTES * model->tau;
    return rc;
}

/* Time of a flag between the cores of rank 0 and of the first rank on another
 * core. */
static double flag_us(unsigned ranks, const pinning_t *at)
{
    double values[SAMPLES];
    unsigned r = 1;
    if (clock_elsewhere) /* cores of another machine */
        return NAN;
    while (r < ranks && at[r].core == at[0].core)
        r++;
    if (r >= ranks)
        return NAN;
    for (unsigned i = 0; i < SAMPLES; i++)
        values[i] =
            cacheline_run(at[0].core, at[r].core, TRANSFER_ONE, LINE_ROUNDS) /
            1e3;
    return stats_summary(values, SAMPLES).median;
}

_Static_assert(sizeof(drail_key_t) <= COLL_CARD_BYTES, "cards have room");

/* The rank that rank 0 measures with: the first of another node, if there is
 * one. */
static unsigned other_end(const coll_run_t *run)
{
    const dcoll_shape_t *shape = &run->plan->shape;
    return shape->nnodes > 1 ? shape->node_begin[1] : 1;
}

int coll_model_measure(coll_bed_t *bed, coll_run_t *run,
                       dcoll_cost_model_t *model)
{
    unsigned rank = run->rank, other = other_end(run);
    unsigned peer = rank ? 0 : other;
    drail_key_t mine = {0}, remote = {0}, *keys = run->cards;
    *model = (dcoll_cost_model_t){0};
    drail_mem_key(bed->recv_mem, &mine);
    int rc = drail_job_allgather(run->job, &mine, sizeof mine, keys, -1);
    if (!rc && run->ranks > 1)
        remote = keys[peer];
    if (!rc && run->ranks > 1 && (!rank || rank == other)) {
        ends_t ends = {bed, run->job, rank, peer, remote};
        rc = measure_links(&ends, model);
    }
    if (!rc && rank == 0) {
        const dcoll_reduction_t *reduction = coll_plan_reduction(run->plan);
        double flag = flag_us(run->ranks, coll_pinning(run->result));
        model->copy = copy_us(bed, bed->platform);
        if (reduction)
            model->combine = combine_us(bed, bed->platform, reduction);
        /* if all ranks share one core: the start-up time of a put */
        model->flag = isfinite(flag) ? flag : model->ts;
    }
    return rc ? rc : drail_job_barrier(run->job, -1);
}

double coll_model_predict(const dcoll_cost_model_t *model,
                          const dcoll_algorithm_t *algorithm,
                          const dcoll_shape_t *shape, const dcoll_args_t *args,
                          const uint64_t *counts)
{
    dcoll_args_t told = *args;
    dcoll_traffic_t traffic;
    dcoll_program_t program;
    if (counts) {
        traffic = *args->traffic;
        traffic.counts = counts;
        told.traffic = &traffic;
    }
    if (dcoll_program_make(algorithm, shape, &told, &program))
        return NAN;
    program.counts = counts;
    double us = dcoll_cost(&program, model);
    dcoll_program_free(&program);
    return us < 0 ? NAN : us;
}
