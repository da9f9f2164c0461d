/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "bench/clock.h"
#include "command.h"
#include "measure.h"
#include "bench/report/progress.h"

#define CALIBRATION_ITERATIONS 10
#define WARM_NS                2e8 /* for long batches before those that count */
#define LONG_NS                5e7 /* of a batch that needs none before it */
#define ACCOUNT_ITERATIONS     10

typedef struct measure {
    session_t *session;
    result_t *result;
    limits_t *limits;
    const options_t *opts;
    command_table_t table;
    progress_t progress;
    hist_t samples; /* of one repeat */
    uint64_t start_ns;
    sampling_t sampling;
    cell_t *cell;  /* being measured, for messages */
    cell_t *cells; /* of the present size */
} measure_t;

static loop_run_t new_run(measure_t *m, const cell_t *cell)
{
    return (loop_run_t){.session = m->session,
                        .bytes = cell->bytes,
                        .iterations = CALIBRATION_ITERATIONS};
}

/* Engine auto and policy adaptive must learn before they are measured. */
static bool learns(const setup_t *setup)
{
    return setup->engine == DRAIL_ENGINE_AUTO ||
           setup->policy == DRAIL_POLICY_ADAPTIVE;
}

/* Shortens the warm-up if batches are long, unless the user has set it. */
static int shorten(measure_t *m, cell_t *cell, unsigned loop, loop_run_t *run)
{
    loop_run_t one = new_run(m, cell);
    uint64_t peer_cpu;
    if (m->opts->warmup != WARMUP_DEFAULT ||
        learns(&m->result->plan->setups[cell->setup]))
        return 0;
    one.iterations = 1;
    int rc = command_run(&m->table, cell->setup, loop, &one, &peer_cpu);
    double most = WARM_NS / (double)(one.ns ? one.ns : 1);
    if (rc || most >= (double)(run->warmup + run->iterations))
        return rc;
    run->warmup = run->warmup ? (uint64_t)(most / 2) : 0;
    run->iterations = (uint64_t)most - run->warmup;
    run->iterations += !run->iterations;
    return 0;
}

/* The warm-up; its time also tells how many iterations make a repeat. */
static int calibrate(measure_t *m, cell_t *cell, unsigned loop)
{
    series_t *series = &cell->series[loop];
    loop_run_t run = new_run(m, cell);
    uint64_t peer_cpu;
    int rc;

    series->iterations = m->opts->iterations;
    run.warmup = options_warmup(m->opts);
    if (series->iterations) {
        if (!run.warmup)
            return 0;
        run.iterations = run.warmup; /* all of them dropped */
        run.warmup = 0;
    }
    rc = shorten(m, cell, loop, &run);
    if (!rc)
        rc = command_run(&m->table, cell->setup, loop, &run, &peer_cpu);
    series->warmup = series->iterations ? run.iterations : run.warmup;
    series->batch_ns = run.ns / run.iterations;
    if (rc || series->iterations)
        return rc;

    series->iterations = sampling_iterations(run.iterations, run.ns);
    return 0;
}

/* Warm-up after another setup: the target first looks at the rails of the last
 * two notifications, so two batches are enough. */
static uint64_t warmup(const series_t *series)
{
    return (double)series->batch_ns > LONG_NS ? 0 : 2;
}

static int repeat_once(measure_t *m, cell_t *cell, unsigned loop)
{
    series_t *series = &cell->series[loop];
    const loop_t *body = m->table.test->loops[loop];
    loop_run_t run = new_run(m, cell);
    drail_batch_t batch;
    uint64_t peer_cpu;

    m->samples = (hist_t){0};
    run.samples = &m->samples;
    run.account = m->table.test->breakdown ? &batch : NULL;
    run.iterations = series->iterations;
    run.warmup = warmup(series);
    int rc = command_run(&m->table, cell->setup, loop, &run, &peer_cpu);
    if (rc)
        return rc;
    series->repeats[series->count++] = (repeat_t){
        .iterations = run.iterations,
        .ns = run.ns ? run.ns : 1,
        .bytes = run.iterations * loop_bytes(body, cell->bytes, m->opts->batch),
        .cpu_ns = {run.cpu_ns, peer_cpu},
        .median_ns = hist_quantile(&m->samples, 0.5),
    };
    if (run.account)
        series->repeats[series->count - 1].parts =
            breakdown_of(m->result->plan->setups[cell->setup].engine,
                         batch.per_rail, m->opts->nrails);
    hist_merge(series->samples, &m->samples);
    return 0;
}

static summary_t figure(const void *of, unsigned i)
{
    const measure_t *m = of;
    const bench_test_t *test = m->table.test;
    const unsigned loop = i % test->nloops;
    return series_latency(m->result, &m->cells[i / test->nloops].series[loop],
                          test->loops[loop]);
}

/* Called after the measurement, when adaptive rails have learnt. */
static void explain(const measure_t *m, const cell_t *cell)
{
    char text[1024];
    drail_explain(m->session->rail, cell->bytes, text, sizeof text);
    progress_clear(&m->progress);
    fprintf(stderr, "explain: %s\n", text);
}

/* A few more batches outside the measurement, timed by rail. In a window, rails
 * have no times of their own. */
static int account(measure_t *m, cell_t *cell)
{
    loop_run_t run = new_run(m, cell);
    drail_batch_t batch;
    uint64_t peer_cpu;
    bool times = !m->opts->window && !session_turns(m->session) &&
                 m->result->plan->setups[cell->setup].op == OP_PUT;
    if (!times && !m->opts->explain)
        return 0;
    run.account = times ? &batch : NULL;
    run.warmup = warmup(&cell->series[0]);
    run.iterations = cell->series[0].iterations < ACCOUNT_ITERATIONS
                         ? cell->series[0].iterations
                         : ACCOUNT_ITERATIONS;
    int rc = command_run(&m->table, cell->setup, 0, &run, &peer_cpu);
    if (rc)
        return rc;
    if (m->opts->explain)
        explain(m, cell);
    if (!times)
        return 0;
    cell->accounted = run.iterations;
    for (unsigned r = 0; r < m->opts->nrails; r++)
        cell->per_rail[r] = batch.per_rail[r];
    return 0;
}

static void report_defect(const measure_t *m, const cell_t *cell,
                          const loop_t *loop, const defect_t *defect)
{
    char label[64];
    setup_label(&m->result->plan->setups[cell->setup], m->opts, label,
                sizeof label);
    progress_clear(&m->progress);
    fprintf(stderr,
            "%s: validation failed: %s, %llu bytes, %s: offset %lld is 0x%02x "
            "instead of 0x%02x (seed %llu)\n",
            m->table.test->table.command, label,
            (unsigned long long)cell->bytes, loop->name,
            (long long)defect->offset, defect->found, defect->expected,
            (unsigned long long)m->result->seed);
}

static int validate(measure_t *m, cell_t *cell)
{
    uint64_t index = (uint64_t)(cell - m->result->cells);
    cell->validity = VALID;
    for (unsigned l = 0; l < m->table.test->nloops; l++) {
        loop_run_t run = new_run(m, cell);
        defect_t defect;
        /* each cell and loop has its own contents: two seeds */
        uint64_t seed = m->result->seed + 2 * (index * TEST_LOOPS + l);
        int rc = command_check(&m->table, cell->setup, l, &run, seed, &defect);
        if (rc)
            return rc;
        if (defect.offset != DEFECT_NONE) {
            cell->validity = INVALID;
            report_defect(m, cell, m->table.test->loops[l], &defect);
        }
    }
    return 0;
}

static void show_progress(measure_t *m)
{
    const cell_t *cell = m->cell;
    unsigned size_index =
        (unsigned)(cell - m->result->cells) / m->result->plan->count;
    char label[64], spent[64] = "";
    double seconds = (double)(clock_ns() - m->start_ns) / 1e9;
    setup_label(&m->result->plan->setups[cell->setup], m->opts, label,
                sizeof label);
    if (m->opts->repeat)
        snprintf(spent, sizeof spent, "; %.0f s", seconds);
    else
        snprintf(spent, sizeof spent, "; %.0f of %.0f s", seconds,
                 m->opts->time_budget);
    progress_show(&m->progress,
                  "%s: size %u of %u, %llu bytes, %s, repeat %u%s",
                  m->table.test->table.command, size_index + 1, m->opts->nsizes,
                  (unsigned long long)cell->bytes, label,
                  cell->series[0].count + 1, m->opts->simulated ? "" : spent);
}

/* Calls @p step for every setup of a size. */
static int for_setups(measure_t *m, cell_t *cells,
                      int (*step)(measure_t *, cell_t *))
{
    int rc = 0;
    for (unsigned c = 0; !rc && c < m->result->plan->count; c++) {
        m->cell = &cells[c];
        show_progress(m);
        rc = step(m, m->cell);
    }
    return rc;
}

static int calibrate_loops(measure_t *m, cell_t *cell)
{
    int rc = 0;
    for (unsigned l = 0; !rc && l < m->table.test->nloops; l++)
        rc = calibrate(m, cell, l);
    return rc;
}

/* The setup after the last one means the limits. */
static int repeat_setup(void *of, unsigned setup)
{
    measure_t *m = of;
    int rc = 0;
    if (setup == m->result->plan->count) {
        limits_repeat(m->limits);
        return 0;
    }
    m->cell = &m->cells[setup];
    show_progress(m);
    for (unsigned l = 0; !rc && l < m->table.test->nloops; l++)
        rc = repeat_once(m, m->cell, l);
    return rc;
}

static int measure_size(measure_t *m, unsigned size_index)
{
    const unsigned setups = m->result->plan->count;
    cell_t *cells = m->cells = &m->result->cells[size_index * setups];
    int rc = limits_size(m->limits, cells);
    const sampled_t sampled = {.count = setups + limits_measured(m->limits),
                               .repeat = repeat_setup,
                               .figures = setups * m->table.test->nloops,
                               .figure = figure,
                               .of = m};

    m->cell = cells;
    sampling_part(&m->sampling, m->opts->nsizes - size_index);
    if (!rc)
        rc = for_setups(m, cells, calibrate_loops);
    if (!rc)
        rc = sampling_run(&m->sampling, &sampled);
    limits_conclude(m->limits);
    if (!rc)
        rc = for_setups(m, cells, account);
    if (!rc && m->opts->validate)
        rc = for_setups(m, cells, validate);
    return rc;
}

int measure(session_t *session, result_t *result, limits_t *limits, char *where,
            size_t size)
{
    measure_t m = {.session = session,
                   .result = result,
                   .limits = limits,
                   .opts = result->opts,
                   .table = {result->test, result->plan},
                   .start_ns = clock_ns(),
                   .sampling = options_sampling(result->opts)};
    int rc = 0;

    sampling_begin(&m.sampling);
    progress_init(&m.progress);
    for (unsigned i = 0; !rc && i < m.opts->nsizes; i++)
        rc = measure_size(&m, i);
    if (rc) {
        char label[64];
        setup_label(&result->plan->setups[m.cell->setup], m.opts, label,
                    sizeof label);
        snprintf(where, size, "%s, %llu bytes", label,
                 (unsigned long long)m.cell->bytes);
    } else {
        rc = command_quit(session);
        snprintf(where, size, "at the end");
    }
    progress_clear(&m.progress);
    result->seconds = (double)(clock_ns() - m.start_ns) / 1e9;
    return rc;
}
