/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A repeat is a number of collectives back to back after a common start.
 *
 * If every rank has a core, the ranks wait for an agreed time, and time counts
 * from there; a rank that comes too late spoils the repeat, which is done
 * again. If ranks share cores, waiting ranks would keep others from coming:
 * then the start is a barrier, and each rank reads its own clock.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/clock.h"
#include "each.h"
#include "measure.h"
#include "overlap.h"

#define DEFAULT_ITERATIONS 10    /* of the warm-up, if it is to tell the time */
#define SETTLED_NS         2.5e6 /* the warm-up lasts, as of bench/peers */
#define PASSES             5     /* of account() */
#define SINGLES            1000  /* calls timed, at most */
#define TRIES              5     /* of a repetition that starts late */
#define TOLERANCE_NS       UINT64_C(2000)
#define TOLERANCE_PART     100 /* ... or this part of the repetition */
#define LEAD_MAX_NS        UINT64_C(20000000)
#define SERIES_WARMUP      3  /* calls */
#define SERIES_REPEATS     10 /* and what comes with them, of each setup */
#define SERIES_LEAST_NS    1e5
#define SERIES_MOST_NS     1e7

static int switch_to(coll_run_t *run, unsigned setup)
{
    int rc = coll_bed_switch(coll_bed_of(run, setup),
                             &run->plan->setups[setup].rail);
    return rc || !run->work->arrange ? rc : run->work->arrange(run, setup);
}

/* ----------------------------------------------------------- the start --- */

/* After the exchange, all ranks know when the last rank arrived. */
static int wait_for_time(coll_run_t *run, uint64_t tolerance, uint64_t *begin,
                         bool *late)
{
    coll_cards_t all;
    int rc = coll_exchange(run, (coll_card_t){0}, &all);
    if (rc)
        return rc;
    *begin = all.now + run->lead_ns;
    rc = coll_wait_until(run, *begin);
    *late = clock_ns() > *begin + tolerance;
    return rc;
}

static int start_together(coll_run_t *run, unsigned setup, uint64_t tolerance,
                          uint64_t *begin, bool *late)
{
    if (run->result->start == START_TIME)
        return wait_for_time(run, tolerance, begin, late);
    int rc = run->work->notifies ? drail_job_barrier(run->job, -1)
                                 : dcoll_barrier(coll_bed_of(run, setup)->team);
    *begin = clock_ns();
    *late = false;
    return rc;
}

/* --------------------------------------------------------- a repetition --- */

static void show_progress(coll_run_t *run)
{
    const coll_cell_t *cell = run->cell;
    const struct series_options *series = &run->opts->series;
    char label[128], part[64] = "";
    if (run->rank != 0)
        return;
    if (series->count)
        snprintf(part, sizeof part, "part %u of %u, %s: ", series->index + 1,
                 series->count, dcoll_collective_name(run->plan->collective));
    coll_setup_label(run->plan, &run->plan->setups[cell->setup], label,
                     sizeof label);
    progress_show(&run->progress, "%s: %s%u of %u: %llu bytes, %s, repeat %u",
                  run->result->test->table.command, part,
                  (unsigned)(cell - run->result->cells) + 1,
                  run->result->ncells, (unsigned long long)cell->bytes, label,
                  cell->count + 1);
}

/* Makes one call and records its time. */
static int single(coll_run_t *run, unsigned setup)
{
    uint64_t from = clock_ns();
    int rc = run->work->perform(run, setup);
    run->singles[run->nsingles++] = clock_ns() - from;
    return rc;
}

/* Runs iterations after a common start. @p all: times of the ranks. If there
 * are many iterations, only some are timed singly, as reading the clock takes
 * time. */
static int timed(coll_run_t *run, unsigned setup, uint64_t iterations,
                 uint64_t tolerance, coll_cards_t *all)
{
    uint64_t begin = 0, every = iterations / SINGLES + 1;
    bool late = false;
    run->nsingles = 0;
    int rc = start_together(run, setup, tolerance, &begin, &late);
    for (uint64_t i = 0; !rc && i < iterations; i++) {
        rc = i % every ? run->work->perform(run, setup) : single(run, setup);
        if (clock_elsewhere) /* takes no time there, and a call a while here */
            show_progress(run);
    }
    uint64_t ns = clock_ns() - begin;
    coll_card_t mine = {.ns = ns ? ns : 1, .late = late};
    return rc ? rc : coll_exchange(run, mine, all);
}

/* A series has hundreds of setups, so it warms up each only briefly. */
static uint64_t settling_calls(const options_t *opts)
{
    uint64_t warmup = options_warmup(opts);
    bool many = opts->series.count && opts->warmup == WARMUP_DEFAULT;
    return many && warmup > SERIES_WARMUP ? SERIES_WARMUP : warmup;
}

/* Time of a repeat, so that all repeats of all setups fit the time of this
 * item. The same on all ranks. */
static double series_repeat_ns(const coll_run_t *run)
{
    double cells = (double)run->opts->nsizes * run->plan->count;
    double ns = run->opts->series.seconds * 1e9 / cells / SERIES_REPEATS;
    return fmax(SERIES_LEAST_NS, fmin(ns, SERIES_MOST_NS));
}

/* @p ns: gets the time of the fastest of so many runs: one may have been
 * disturbed. */
static int settle(coll_run_t *run, unsigned setup, uint64_t calls,
                  unsigned runs, uint64_t *ns)
{
    coll_cards_t all;
    int rc = 0;
    for (*ns = UINT64_MAX; !rc && runs; runs--) {
        rc = timed(run, setup, calls, UINT64_MAX / 2, &all);
        *ns = !rc && all.most_ns < *ns ? all.most_ns : *ns;
    }
    return rc;
}

/* The warm-up. If its time determines the iterations of a repetition, it runs
 * twice; and by default again with more calls until it has lasted: between
 * hosts, short calls became faster for the first hundred. */
static int calibrate(coll_run_t *run, unsigned setup)
{
    const options_t *opts = run->opts;
    uint64_t warmup = settling_calls(opts), ns;
    run->iterations[setup] = opts->iterations;
    if (run->iterations[setup] && !warmup)
        return 0;
    if (!warmup)
        warmup = DEFAULT_ITERATIONS;
    bool once = run->iterations[setup] || opts->series.count;
    bool grows = !once && !clock_elsewhere && opts->warmup == WARMUP_DEFAULT;
    int rc = switch_to(run, setup);
    if (!rc) /* connections, first touch */
        rc = run->work->perform(run, setup);
    if (!rc)
        rc = settle(run, setup, warmup, once ? 1 : 2, &ns);
    while (!rc && grows && (double)ns < SETTLED_NS)
        rc = settle(run, setup, warmup *= 4, 2, &ns);
    if (rc || run->iterations[setup])
        return rc;
    run->iterations[setup] =
        opts->series.count
            ? sampling_iterations_in(warmup, ns, series_repeat_ns(run))
            : sampling_iterations(warmup, ns);
    return 0;
}

/* How late a rank may start: too little to change the time of a repetition. */
static uint64_t tolerance_ns(uint64_t expected)
{
    uint64_t part = expected / TOLERANCE_PART;
    return part > TOLERANCE_NS ? part : TOLERANCE_NS;
}

/* Makes one call before a repetition, since another setup ran before. A
 * simulation with given iterations and one setup skips it, to save time. */
static int settle_in(coll_run_t *run, unsigned setup)
{
    bool settled = clock_elsewhere && run->opts->iterations &&
                   options_warmup(run->opts) && run->plan->count == 1;
    return settled ? 0 : run->work->perform(run, setup);
}

/* @p expected: time of a repetition; the tolerated lateness depends on it. */
static int repeat_once(coll_run_t *run, coll_cell_t *cell, uint64_t *expected)
{
    coll_cards_t all = {0};
    unsigned setup = cell->setup;
    uint64_t iterations = run->iterations[setup];
    show_progress(run);
    int rc = switch_to(run, setup);
    bool late = true;
    for (unsigned tries = 0; !rc && late && tries < TRIES; tries++) {
        rc = settle_in(run, setup);
        if (!rc)
            rc = timed(run, setup, iterations, tolerance_ns(*expected), &all);
        late = !rc && all.late;
        if (!late)
            break;
        if (2 * run->lead_ns <= LEAD_MAX_NS)
            run->lead_ns *= 2;
        if (run->rank == 0)
            cell->invalid++;
    }
    if (rc)
        return rc;
    *expected = all.most_ns;
    for (unsigned i = 0; i < run->nsingles; i++)
        hist_add(&run->samples[setup], run->singles[i]);
    if (run->rank == 0) {
        cell->repeats[cell->count++] = (coll_repeat_t){
            .iterations = iterations,
            .max_ns = all.most_ns,
            .avg_ns = all.sum_ns / run->ranks,
        };
        cell->kept_late += late;
    }
    uint64_t call_ns = all.most_ns / iterations;
    if (run->opts->overlap)
        return coll_overlap(run, cell, call_ns);
    return run->each ? coll_each(run, cell, call_ns, &run->each[setup]) : 0;
}

/* -------------------------------------------------------------- a size --- */

/* A size that is being repeated. */
typedef struct size {
    coll_run_t *run;
    coll_cell_t *cells;
    uint64_t expected[COLL_SETUPS_MAX]; /* time of the last repetition */
} size_run_t;

static summary_t figure(const void *of, unsigned i)
{
    const size_run_t *size = of;
    return coll_latency(size->run->opts, &size->cells[i]);
}

static int repeat_setup(void *of, unsigned setup)
{
    size_run_t *size = of;
    size->run->cell = &size->cells[setup];
    return repeat_once(size->run, &size->cells[setup], &size->expected[setup]);
}

/* Rank 0 decides: are there enough repetitions of these cells? */
static int agree_enough(void *of, bool *enough)
{
    size_run_t *size = of;
    coll_cards_t all;
    int rc = coll_exchange(size->run, (coll_card_t){.enough = *enough}, &all);
    *enough = all.enough;
    return rc;
}

static int repeat_size(coll_run_t *run, coll_cell_t *cells)
{
    size_run_t size = {.run = run, .cells = cells};
    const sampled_t sampled = {.count = run->plan->count,
                               .repeat = repeat_setup,
                               .figures = run->plan->count,
                               .figure = figure,
                               .agree = agree_enough,
                               .follows = run->rank != 0,
                               .of = &size};
    return sampling_run(&run->sampling, &sampled);
}

/* Rank 0 learns the quantiles of single calls. */
static int tell_tails(coll_run_t *run, coll_cell_t *cells)
{
    int rc = 0;
    for (unsigned s = 0; !rc && s < run->plan->count; s++) {
        const hist_t *samples = &run->samples[s];
        coll_tail_t tail = {.p50 = hist_quantile(samples, 0.5),
                            .p99 = hist_quantile(samples, 0.99),
                            .p999 = hist_quantile(samples, 0.999),
                            .max = samples->max};
        rc = coll_exchange_tail(run, &tail);
        if (!rc && run->rank == 0)
            cells[s].tail = tail;
        if (rc || run->rank || !run->each)
            continue;
        cells[s].each.p99 = hist_quantile(&run->each[s], 0.99);
        hist_merge(coll_each_of(run->result, &cells[s]), &run->each[s]);
    }
    return rc;
}

static int sample_size(coll_run_t *run, coll_cell_t *cells)
{
    /* pages of calloc take no memory until they are written */
    run->samples = calloc(run->plan->count, sizeof *run->samples);
    run->each =
        run->opts->each ? calloc(run->plan->count, sizeof *run->each) : NULL;
    int rc = run->samples && (run->each || !run->opts->each) ? 0 : DRAIL_ENOMEM;
    if (!rc)
        rc = repeat_size(run, cells);
    if (!rc)
        rc = tell_tails(run, cells);
    free(run->samples);
    free(run->each);
    return rc;
}

static int prepare_size(coll_run_t *run, coll_cell_t *cells)
{
    int rc = 0;
    for (unsigned s = 0; !rc && s < run->plan->count; s++) {
        run->cell = &cells[s];
        /* auto selects an algorithm by the engine in use */
        rc = coll_bed_switch(coll_bed_of(run, s), &run->plan->setups[s].rail);
        if (!rc)
            rc = run->work->prepare(run, &cells[s]);
        if (!rc)
            rc = calibrate(run, s);
    }
    return rc;
}

/* An extra pass that accounts for time by parts; it is no repetition, as
 * reading the clock takes time. Also finds the algorithm that auto has
 * selected. */
static int account(coll_run_t *run, coll_cell_t *cell, coll_parts_t *parts)
{
    coll_cards_t all = {0};
    dcoll_times_t times = {0};
    dcoll_team_t *team = coll_bed_of(run, cell->setup)->team;
    /* a series needs only the selected algorithm */
    uint64_t iterations =
        run->opts->series.count ? 1 : run->iterations[cell->setup];
    run->cell = cell;
    int rc = switch_to(run, cell->setup);
    if (!rc)
        rc = run->work->perform(run, cell->setup);
    dcoll_times_begin(team);
    if (!rc)
        rc = timed(run, cell->setup, iterations, UINT64_MAX / 2, &all);
    dcoll_times_end(team, &times);
    uint64_t sums[COLL_SUMS] = {times.distribute_ns, times.collect_ns,
                                times.deliver_ns};
    if (!rc)
        rc = coll_exchange_sums(run, sums);
    if (rc || run->rank)
        return rc;
    double scale = 1e-3 / (double)iterations / run->ranks;
    parts->all_us = (double)all.sum_ns * scale;
    parts->distribute_us = (double)sums[0] * scale;
    parts->collect_us = (double)sums[1] * scale;
    parts->deliver_us = (double)sums[2] * scale;
    cell->algorithm = times.algorithm;
    return 0;
}

static int by_all(const void *a, const void *b)
{
    const coll_parts_t *x = a, *y = b;
    return (x->all_us > y->all_us) - (x->all_us < y->all_us);
}

/* Accounts for time by parts. The parts of the pass of median time are kept, so
 * that they add up. Simulated passes are all alike: one is enough. */
static int account_size(coll_run_t *run, coll_cell_t *cells)
{
    unsigned count = run->plan->count;
    bool once = run->opts->simulated || run->opts->series.count;
    unsigned passes = once ? 1 : PASSES;
    coll_parts_t *parts = calloc((size_t)count * passes, sizeof *parts);
    int rc = parts ? 0 : DRAIL_ENOMEM;
    for (unsigned i = 0; !rc && i < count * passes; i++)
        rc = account(run, &cells[i % count],
                     &parts[i % count * passes + i / count]);
    for (unsigned s = 0; !rc && run->rank == 0 && s < count; s++) {
        qsort(&parts[s * passes], passes, sizeof *parts, by_all);
        cells[s].parts = parts[s * passes + passes / 2];
    }
    free(parts);
    return rc;
}

/* @p valid: in: on this rank; out: on all ranks. */
static int agree(coll_run_t *run, bool *valid)
{
    coll_cards_t all;
    int rc = coll_exchange(run, (coll_card_t){.defect = !*valid}, &all);
    *valid &= !rc && !all.defect;
    return rc;
}

static int validate_size(coll_run_t *run, coll_cell_t *cells)
{
    int rc = 0;
    for (unsigned s = 0; !rc && s < run->plan->count; s++) {
        bool valid = true;
        run->cell = &cells[s];
        rc = switch_to(run, s);
        if (!rc)
            rc = run->work->validate(run, &cells[s], &valid);
        if (!rc)
            rc = agree(run, &valid);
        if (!rc && run->rank == 0)
            cells[s].validity = valid ? VALID : INVALID;
    }
    return rc;
}

/* Waits until all ranks have finished with the calls, unless the run has
 * failed. */
static int release_size(coll_run_t *run, int rc)
{
    if (!rc)
        rc = drail_job_barrier(run->job, -1);
    for (unsigned s = 0; s < run->plan->count; s++) {
        int left = run->calls[s] ? run->work->release(run, s, rc != 0) : 0;
        rc = rc ? rc : left;
        run->calls[s] = NULL;
    }
    return rc;
}

static int measure_size(coll_run_t *run, unsigned index)
{
    coll_cell_t *cells = &run->result->cells[index * run->plan->count];
    sampling_part(&run->sampling, run->opts->nsizes - index);
    int rc = prepare_size(run, cells);
    if (!rc)
        rc = sample_size(run, cells);
    if (!rc && run->work->timed)
        rc = account_size(run, cells);
    if (!rc && run->opts->validate)
        rc = validate_size(run, cells);
    if (!rc && run->rank == 0)
        run->result->complete = index + 1;
    return release_size(run, rc);
}

/* Is the time of the series over? Rank 0 decides for all. */
static int agree_over(coll_run_t *run, bool *over)
{
    const struct series_options *series = &run->opts->series;
    coll_cards_t all;
    if (!series->count)
        return 0;
    coll_card_t mine = {.enough = clock_ns() > series->end_ns};
    int rc = coll_exchange(run, mine, &all);
    *over = !rc && all.enough;
    return rc;
}

static void predict(const coll_work_t *work, coll_result_t *r)
{
    for (unsigned i = 0; i < r->ncells; i++)
        r->cells[i].model_us =
            work->predict ? work->predict(r, &r->cells[i]) : NAN;
}

int coll_measure(coll_run_t *run)
{
    run->singles = calloc(SINGLES, sizeof *run->singles);
    int rc = run->singles ? 0 : DRAIL_ENOMEM;
    run->start_ns = clock_ns();
    run->sampling = options_sampling(run->opts);
    sampling_begin(&run->sampling);
    progress_init(&run->progress);
    if (run->opts->overlap)
        busy_calibrate(&run->busy, run->job);
    bool over = false;
    for (unsigned i = 0; !rc && !over && i < run->opts->nsizes; i++) {
        rc = agree_over(run, &over);
        if (!rc && !over)
            rc = measure_size(run, i);
    }
    free(run->singles);
    if (run->rank == 0) {
        progress_clear(&run->progress);
        predict(run->work, run->result);
        run->result->seconds = (double)(clock_ns() - run->start_ns) / 1e9;
        run->result->partial = rc != 0;
    }
    return rc;
}
