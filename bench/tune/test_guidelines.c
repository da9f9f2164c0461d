/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance guidelines, after J. L. Traeff, W. Gropp, R. Thakur,
 * "Self-consistent MPI performance guidelines" (TPDS 2010): what a user expects
 * of collectives without knowing the machine. A violation is named when the
 * confidence intervals (of what is simulated, ranges) do not overlap and the
 * medians differ by MARGIN.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "series.h"
#include "bench/report/output.h"
#include "bench/report/report.h"

#define MARGIN 1.05
/* Setups of each plan; the named algorithms follow. */
enum { AUTO_ALL_RAILS, AUTO_ONE_RAIL, FIRST_NAMED };

typedef struct violation {
    const char *guideline;
    dcoll_collective_t collective;
    uint64_t ranks, ppn, bytes;
    char than[96]; /* the faster call */
    summary_t slow, fast;
} violation_t;

typedef struct check {
    const bench_test_t *test;
    const options_t *opts;
    machine_t machine;
    violation_t *violations;
    unsigned count, compared;
    coll_series_t series;
    int status;
    bool partial; /**< ended before all was measured */
} check_t;

/* ------------------------------------------------------------ comparing --- */

static summary_t latency(const coll_item_t *item, unsigned size, unsigned setup)
{
    return coll_latency(&item->opts,
                        &item->result->cells[size * item->plan.count + setup]);
}

static void compare(check_t *c, const coll_item_t *item, unsigned size,
                    const char *guideline, summary_t slow, summary_t fast,
                    const char *than)
{
    c->compared++;
    if (!(slow.lo > fast.hi) || slow.median < MARGIN * fast.median)
        return;
    violation_t *grown = realloc(c->violations, (c->count + 1) * sizeof *grown);
    if (!grown) {
        c->status = 1;
        return;
    }
    c->violations = grown;
    violation_t *v = &grown[c->count++];
    *v = (violation_t){
        .guideline = guideline,
        .collective = item->plan.collective,
        .ranks = item->opts.ranks,
        .ppn = dcoll_shape_ppn(&item->plan.shape),
        .bytes = item->opts.sizes[size],
        .slow = slow,
        .fast = fast,
    };
    snprintf(v->than, sizeof v->than, "%s", than);
}

static void check_rails(check_t *c, const coll_item_t *item, unsigned size)
{
    compare(c, item, size, "several rails not slower than one",
            latency(item, size, AUTO_ALL_RAILS),
            latency(item, size, AUTO_ONE_RAIL), "one rail");
}

static void check_named(check_t *c, const coll_item_t *item, unsigned size)
{
    summary_t mine = latency(item, size, AUTO_ALL_RAILS);
    for (unsigned s = FIRST_NAMED; s < item->plan.count; s++)
        compare(c, item, size, "auto not slower than any algorithm", mine,
                latency(item, size, s),
                coll_setup_algorithm(&item->plan.setups[s]));
}

static bool power_of_two(uint64_t bytes)
{
    return !(bytes & (bytes - 1));
}

/* A shorter block may not take longer than the next longer one. */
static void check_next(check_t *c, const coll_item_t *item, unsigned size)
{
    const uint64_t *sizes = item->opts.sizes;
    char than[32];
    if (size + 1 >= coll_item_sizes(item) || sizes[size] >= sizes[size + 1])
        return;
    snprintf(than, sizeof than, "%llu bytes",
             (unsigned long long)sizes[size + 1]);
    compare(c, item, size,
            power_of_two(sizes[size]) ? "monotone in size"
                                      : "no cliff off powers of two",
            latency(item, size, AUTO_ALL_RAILS),
            latency(item, size + 1, AUTO_ALL_RAILS), than);
}

static summary_t sum(summary_t a, summary_t b)
{
    a.median += b.median;
    a.lo += b.lo;
    a.hi += b.hi;
    a.coverage += b.coverage - 1; /* at least */
    a.mean += b.mean;
    a.min += b.min;
    a.max += b.max;
    return a;
}

/* An all-gather can be had as a gather and a broadcast of all blocks, an
 * all-reduce as a reduce and a broadcast. */
static void check_composed(check_t *c, const coll_item_t *whole,
                           const coll_item_t *first, const coll_item_t *bcast,
                           const char *guideline, const char *than)
{
    unsigned sizes = coll_item_sizes(whole);
    if (coll_item_sizes(first) < sizes)
        sizes = coll_item_sizes(first);
    if (coll_item_sizes(bcast) < sizes)
        sizes = coll_item_sizes(bcast);
    for (unsigned i = 0; i < sizes; i++)
        compare(c, whole, i, guideline, latency(whole, i, AUTO_ALL_RAILS),
                sum(latency(first, i, AUTO_ALL_RAILS),
                    latency(bcast, i, AUTO_ALL_RAILS)),
                than);
}

/* ------------------------------------------------------------ measuring --- */

static void plan_check(coll_item_t *item, bool named)
{
    coll_plan_t *plan = &item->plan;
    const setup_t rails = coll_rails(&item->opts, 0);
    coll_plan_add(plan, NULL, ZERO_COPY_AUTO, &rails);
    coll_plan_add(plan, NULL, ZERO_COPY_AUTO, &COLL_RAILS_ONE);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); named && *a;
         a++)
        if ((*a)->collective == plan->collective &&
            !coll_plan_refusal(plan, *a, ZERO_COPY_AUTO))
            coll_plan_add(plan, *a, ZERO_COPY_AUTO, &rails);
}

static void check_collective(check_t *c, const coll_item_t *item)
{
    for (unsigned i = 0; i < coll_item_sizes(item); i++) {
        if (item->opts.nrails > 1)
            check_rails(c, item, i);
        check_named(c, item, i);
        check_next(c, item, i);
    }
}

/* Checks one shape: each collective, then the broadcasts that all-gather is
 * compared with. */
static void check_shape(check_t *c, struct shape shape)
{
    dcoll_collective_t list[DCOLL_COLLECTIVES];
    unsigned count = coll_collectives(c->opts, list);
    coll_item_t *items = calloc(DCOLL_COLLECTIVES + 1, sizeof *items);
    const coll_item_t *by[DCOLL_COLLECTIVES] = {NULL};
    c->status = items ? 0 : 1;
    for (unsigned i = 0; !c->status && i < count; i++) {
        coll_item_init(&items[i], &c->series, list[i], shape);
        plan_check(&items[i], true);
        c->status = coll_item_run(&items[i], c->test);
        c->partial |= coll_item_sizes(&items[i]) < items[i].opts.nsizes;
        check_collective(c, &items[i]);
        by[list[i]] = &items[i];
    }
    if (!c->status && by[DCOLL_ALLGATHER] && by[DCOLL_GATHER]) {
        coll_item_t *bcast = &items[count];
        coll_item_init(bcast, &c->series, DCOLL_BCAST, shape);
        for (unsigned i = 0; i < bcast->opts.nsizes; i++)
            bcast->opts.sizes[i] *= shape.ranks;
        plan_check(bcast, false);
        c->status = coll_item_run(bcast, c->test);
        check_composed(c, by[DCOLL_ALLGATHER], by[DCOLL_GATHER], bcast,
                       "all-gather not slower than gather + bcast",
                       "gather + bcast");
    }
    if (!c->status && by[DCOLL_ALLREDUCE] && by[DCOLL_REDUCE] &&
        by[DCOLL_BCAST])
        check_composed(
            c, by[DCOLL_ALLREDUCE], by[DCOLL_REDUCE], by[DCOLL_BCAST],
            "all-reduce not slower than reduce + bcast", "reduce + bcast");
    for (unsigned i = 0; items && i <= count; i++)
        coll_item_free(&items[i]);
    free(items);
}

/* -------------------------------------------------------------- reports --- */

static void table(FILE *file, const report_t *of)
{
    const check_t *c = of->result;
    report_title(file, of);
    fprintf(
        file,
        "# violated: of two medians that differ by %.0f %% or more, what is "
        "in [] (%s of each) doesn't overlap\n",
        100 * (MARGIN - 1), report_spread(c->opts));
    for (unsigned i = 0; i < c->count; i++) {
        const violation_t *v = &c->violations[i];
        fprintf(file,
                "VIOLATED %s: %s, %llu ranks, %llu per node, %llu bytes: "
                "%.4g us [%.4g, %.4g], %s: %.4g us [%.4g, %.4g]\n",
                v->guideline, dcoll_collective_name(v->collective),
                (unsigned long long)v->ranks, (unsigned long long)v->ppn,
                (unsigned long long)v->bytes, v->slow.median, v->slow.lo,
                v->slow.hi, v->than, v->fast.median, v->fast.lo, v->fast.hi);
    }
    if (c->partial)
        fputs("# note: partial result: not all was measured\n", file);
    fprintf(file, "# %u of %u comparisons violate a guideline\n", c->count,
            c->compared);
}

static void columns(row_t *row, const void *result, unsigned i)
{
    const check_t *c = result;
    const violation_t none = {.guideline = ""};
    const violation_t *v = c->count ? &c->violations[i] : &none;
    row_text(row, IN_CSV, "test", "check");
    row_text(row, IN_BOTH, "guideline", v->guideline);
    row_text(row, IN_BOTH, "collective", dcoll_collective_name(v->collective));
    row_count(row, IN_BOTH, "ranks", v->ranks);
    row_count(row, IN_BOTH, "ppn", v->ppn);
    row_count(row, IN_BOTH, "bytes", v->bytes);
    row_text(row, IN_BOTH, "than", v->than);
    row_summary(row, IN_BOTH, "latency_us", &v->slow);
    row_summary(row, IN_BOTH, "than_us", &v->fast);
}

static void json(json_t *j, const report_t *of)
{
    const check_t *c = of->result;
    report_json_command(j, c->opts);
    report_json_machine(j, &c->machine);
    json_bool(j, "partial", c->partial);
    json_double(j, "margin", MARGIN);
    json_uint(j, "compared", c->compared);
    report_json_rows(j, "violations", of, false);
}

static int report(FILE *file, format_t format, const void *result)
{
    const check_t *c = result;
    return report_write(file, format,
                        &(report_t){.result = c,
                                    .test = "check",
                                    .machine = &c->machine,
                                    .opts = c->opts,
                                    .nrows = c->count,
                                    .columns = columns,
                                    .table = table,
                                    .json = json});
}

static int check_run(const bench_test_t *test, const options_t *opts)
{
    check_t c = {.test = test, .opts = opts};
    outputs_t outputs = {0};
    struct shape shapes[SHAPES_MAX];
    dcoll_collective_t list[DCOLL_COLLECTIVES];
    unsigned count = coll_shapes(opts, shapes);
    int status = 2;
    if (coll_series_check(test, opts, 1) ||
        outputs_open(&outputs, opts, test->table.command))
        goto out;
    machine_describe(&c.machine, opts->simulated);
    coll_series_begin(&c.series, opts,
                      count * (coll_collectives(opts, list) + 1));
    for (unsigned i = 0; !c.status && i < count; i++)
        check_shape(&c, shapes[i]);
    if (!c.status && c.partial && !opts->follows)
        coll_series_warn(test, opts);
    status = c.status ? c.status : c.count > 0;
    if ((!c.status || c.compared) && outputs_report(&outputs, report, &c))
        status = 1;
out:
    outputs_discard(&outputs);
    free(c.violations);
    return status;
}

/* As of tune, which it checks. */
static void check_defaults(options_t *opts)
{
    opts->type = DCOLL_FLOAT;
}

const bench_test_t test_check = {
    .table = {.command = "railbench guidelines",
              .summary = "Performance guidelines of collectives. Exit status "
                         "1: one is violated.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_SHAPE |
                        OPTIONS_COLLECTIVE | OPTIONS_SHAPES | OPTIONS_TEAM |
                        OPTIONS_SELECT | OPTIONS_REDUCE},
    .name = "guidelines",
    .alias = "check",
    .sizes = "8,24,64,200,512,1000,4K,6000,16K,24000,64K",
    .time_budget = 120,
    .defaults = check_defaults,
    .run = check_run,
};
