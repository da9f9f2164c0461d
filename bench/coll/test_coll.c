/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tests of one collective, from the checked options to the report, in the
 * form of figs. 9 to 11 of Qian and Afsahi 2008 and fig. 5 of Qian et al. 2008.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "bench/options/parsers.h"
#include "bench/report/output.h"

static void warn_crowded(const coll_result_t *r)
{
    if (!r->opts->follows && r->crowd.ranks > r->crowd.cores)
        fprintf(stderr, "%s: warning: %s\n", r->test->table.command,
                r->notes.text[0]);
}

/* Is there a result to report, even a partial one? */
static bool any_measured(const coll_result_t *r)
{
    for (unsigned i = 0; i < r->ncells; i++)
        if (r->cells[i].count)
            return true;
    return false;
}

static int report(coll_result_t *r, outputs_t *outputs, int status)
{
    if (status && !any_measured(r))
        return status;
    if (outputs_report(outputs, coll_report, r))
        return 1;
    return coll_all_valid(r) ? status : 1;
}

int coll_test(const bench_test_t *test, const options_t *opts,
              coll_plan_t *plan, const coll_work_t *work)
{
    notes_t notes = {0};
    outputs_t outputs = {0};
    coll_result_t *result = NULL;
    int status = 2;
    if (coll_plan_make(plan, opts, &test->table, test->collective, &notes) ||
        outputs_open(&outputs, opts, test->table.command))
        goto out;
    result = coll_result_create(test, plan);
    status = 1;
    if (!result) {
        fprintf(stderr, "%s: out of memory\n", test->table.command);
        goto out;
    }
    status = coll_run(result, work);
    for (unsigned i = 0; i < notes.count; i++)
        notes_add(&result->notes, "%s", notes.text[i]);
    if (status != 2) {
        warn_crowded(result);
        status = report(result, &outputs, status);
    }
out:
    coll_result_destroy(result);
    outputs_discard(&outputs);
    coll_plan_free(plan);
    return status;
}

static int run(const bench_test_t *test, const options_t *opts)
{
    coll_plan_t plan = {0};
    return coll_test(test, opts, &plan, &coll_blocks);
}

static int parse_calls(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    static const char *const names[] = {"persistent", "blocking"};
    options_t *opts = field;
    char name[16];
    (void)row;
    snprintf(allowed, size, "a list of persistent, blocking, each once");
    opts->ncalls = 0;
    while (option_next(&text, name, sizeof name)) {
        call_t call = strcmp(name, names[CALL_BLOCKING]) ? CALL_PERSISTENT
                                                         : CALL_BLOCKING;
        if (strcmp(name, names[call]) || opts->ncalls == 2 ||
            (opts->ncalls && opts->calls[0] == call))
            return -1;
        opts->calls[opts->ncalls++] = call;
    }
    return 0;
}

/* The histogram is of single calls: implies --each. */
static int parse_histogram(const option_row_t *row, const char *text,
                           void *field, char *allowed, size_t size)
{
    options_t *opts = field;
    opts->each = true;
    return option_parse_text(row, text, &opts->histogram, allowed, size);
}

static const option_row_t rows[] = {
    {"--call", "C,...",
     "persistent (requests on registered memory) or blocking (calls on plain "
     "memory) (default persistent)",
     .parse = parse_calls},
    {"--unequal", NULL,
     "the block of rank r has (r + 1)/N of --sizes, in whole elements",
     .parse = option_parse_flag, .field = offsetof(options_t, unequal)},
    {"--each", NULL,
     "also time single calls that all ranks make at the same time",
     .parse = option_parse_flag, .field = offsetof(options_t, each)},
    {"--histogram", "FILE",
     "also write how often each time of single calls was taken there, as CSV",
     .parse = parse_histogram},
};

#define COLLECTIVE_TEST(test, what, more, summary_text, default_sizes)         \
    const bench_test_t test_##test = {                                         \
        .table = {.command = "railbench " #test,                               \
                  .summary = summary_text,                                     \
                  .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_SHAPE |  \
                            OPTIONS_ALGORITHM | OPTIONS_BLOCKS |               \
                            OPTIONS_TEAM | OPTIONS_SELECT | OPTIONS_STATS |    \
                            OPTIONS_HOLLOW | OPTIONS_OVERLAP | (more),         \
                  .rows = rows,                                                \
                  .nrows = sizeof rows / sizeof *rows},                        \
        .name = #test,                                                         \
        .sizes = default_sizes,                                                \
        .run = run,                                                            \
        .collective = what,                                                    \
    }

COLLECTIVE_TEST(gather, DCOLL_GATHER, 0,
                "Time of a gather: the root gets a block of every rank.",
                "4:64K");
COLLECTIVE_TEST(allgather, DCOLL_ALLGATHER, 0,
                "Time of an all-gather: all get a block of every rank.",
                "4:64K");
COLLECTIVE_TEST(alltoall, DCOLL_ALLTOALL, 0,
                "Time of an all-to-all: every rank has a block for every "
                "other.",
                "4:64K");
COLLECTIVE_TEST(bcast, DCOLL_BCAST, 0,
                "Time of a broadcast: all get the block of the root.", "4:1M");
COLLECTIVE_TEST(scatter, DCOLL_SCATTER, 0,
                "Time of a scatter: the root has a block for every rank.",
                "4:64K");
COLLECTIVE_TEST(barrier, DCOLL_BARRIER, 0,
                "Time of a barrier: no rank leaves before all have come.", "0");
COLLECTIVE_TEST(reduce, DCOLL_REDUCE, OPTIONS_REDUCE,
                "Time of a reduce: the root gets all ranks' blocks, combined.",
                "8:1M");
COLLECTIVE_TEST(allreduce, DCOLL_ALLREDUCE, OPTIONS_REDUCE | OPTIONS_RANK_PORTS,
                "Time of an all-reduce: all get all ranks' blocks, combined.",
                "8:1M");
COLLECTIVE_TEST(reduce_scatter_block, DCOLL_REDUCE_SCATTER_BLOCK,
                OPTIONS_REDUCE,
                "Time of a reduce-scatter: each gets one block of all ranks', "
                "combined.",
                "8:64K");
COLLECTIVE_TEST(scan, DCOLL_SCAN, OPTIONS_REDUCE,
                "Time of a scan: each gets the blocks of the ranks up to it, "
                "combined.",
                "8:64K");
COLLECTIVE_TEST(exscan, DCOLL_EXSCAN, OPTIONS_REDUCE,
                "Time of an exscan: each gets the blocks of the ranks before "
                "it, combined.",
                "8:64K");
