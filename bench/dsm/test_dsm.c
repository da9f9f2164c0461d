/* SPDX-License-Identifier: BSD-3-Clause */
/* The test of distributed shared memory, from the options to the report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/options/parsers.h"
#include "bench/report/output.h"
#include "bench/report/progress.h"
#include "alone.h"
#include "memory.h"
#include "program.h"
#include "run.h"

#define AT(member) offsetof(options_t, dsm.member)
#define WHOLE      0

#define RATE 5e8 /* operations per second of a simulated rank */

#define PART_NAMES "fetch, range, diff, lock, barrier, jacobi, lu, sort, nbody"

static int parse_parts(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    const char *names[DSM_PARTS];
    struct dsm_options *o = &((options_t *)field)->dsm;
    char name[16], unused[128];
    (void)row;
    for (unsigned i = 0; i < DSM_PARTS; i++)
        names[i] = dsm_parts[i]->name;
    snprintf(allowed, size, "a list of " PART_NAMES ", each once");
    o->nparts = 0;
    while (option_next(&text, name, sizeof name)) {
        int kind = option_choice(names, DSM_PARTS, name, unused, sizeof unused);
        if (kind < 0 || o->nparts == DSM_PARTS)
            return -1;
        for (unsigned i = 0; i < o->nparts; i++)
            if (o->parts[i] == (dsm_kind_t)kind)
                return -1;
        o->parts[o->nparts++] = (dsm_kind_t)kind;
    }
    return 0;
}

static int parse_page(const option_row_t *row, const char *text, void *field,
                      char *allowed, size_t size)
{
    uint64_t least = (uint64_t)sysconf(_SC_PAGESIZE), page;
    (void)row;
    snprintf(allowed, size, "a power of 2 from %llu to 64M",
             (unsigned long long)least);
    if (size_parse(text, &page) || page < least || page & (page - 1) ||
        page > UINT64_C(64) << 20)
        return -1;
    *(uint64_t *)field = page;
    return 0;
}

static const option_row_t rows[] = {
    {"--part", "P,...", PART_NAMES " (default: all)", .parse = parse_parts},
    {"--page", "BYTES", "of a page (default: the system's)",
     .parse = parse_page, .field = AT(page)},
    {"--pages", "N", "fetch, diff: pages of a repeat (default 64)",
     .parse = option_parse_count, .field = AT(pages), .min = 1, .max = 65536},
    {"--ahead", "N",
     "most pages that a fault takes along when faults go upwards (default 255)",
     .parse = option_parse_count, .field = AT(ahead), .max = 65536},
    {"--rows", "N", "jacobi: of the grid (default 64)",
     .parse = option_parse_count, .field = AT(rows), .min = 3, .max = 1 << 20},
    {"--columns", "N", "jacobi: of the grid, 8 bytes each (default 16384)",
     .parse = option_parse_count, .field = AT(columns), .min = 3,
     .max = 1 << 20},
    {"--steps", "N", "jacobi, nbody: of a run (default 10)",
     .parse = option_parse_count, .field = AT(steps), .min = 1, .max = 100000},
    {"--order", "N", "lu: rows and columns of the matrix (default 256)",
     .parse = option_parse_count, .field = AT(order), .min = 1, .max = 32768},
    {"--keys", "N", "sort: integers (default 262144)",
     .parse = option_parse_count, .field = AT(keys), .min = 1,
     .max = UINT32_MAX},
    {"--bodies", "N", "nbody: bodies (default 512)",
     .parse = option_parse_count, .field = AT(bodies), .min = 1,
     .max = 1 << 24},
    {"--explain", NULL,
     "programs: say on stderr how well faults were foreseen (case history)",
     .parse = option_parse_flag, .field = offsetof(options_t, explain)},
    {"--rate", "OPS",
     "programs, simulated: operations that a rank computes per second "
     "(default 500000000)",
     .parse = option_parse_number, .field = AT(rate), .min = 1, .max = 1e15},
};

static void defaults(options_t *opts)
{
    ddsm_config_t cfg;
    ddsm_config_init(&cfg);
    opts->dsm = (struct dsm_options){.pages = 64,
                                     .ahead = cfg.ahead,
                                     .rows = 64,
                                     .columns = 16384,
                                     .steps = 10,
                                     .order = 256,
                                     .keys = 1 << 18,
                                     .bodies = 512};
}

static int refuse(const bench_test_t *test, const options_t *opts,
                  const char *option, uint64_t value, const char *allowed)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    if (!opts->follows)
        option_wrong(&test->table, option, text, allowed);
    return -1;
}

/* Checks that concern several options. */
static int settle(const bench_test_t *test, options_t *opts)
{
    ddsm_config_t cfg;
    char allowed[64];
    ddsm_config_init(&cfg);
    uint64_t page = opts->dsm.page ? opts->dsm.page : cfg.page_bytes;
    if (opts->ranks < 2)
        return refuse(test, opts, "--ranks", opts->ranks, "at least 2");
    snprintf(allowed, sizeof allowed, "multiples of a page, %llu bytes",
             (unsigned long long)page);
    for (unsigned i = 0; dsm_chosen(opts, DSM_RANGE) && i < opts->nsizes; i++)
        if (!opts->sizes[i] || opts->sizes[i] % page)
            return refuse(test, opts, "--sizes", opts->sizes[i], allowed);
    if (opts->dsm.rate > 0 && !opts->simulated)
        return refuse(test, opts, "--rate", (uint64_t)opts->dsm.rate,
                      "only with --rails sim:NAME");
    if (!(opts->dsm.rate > 0))
        opts->dsm.rate = RATE;
    return 0;
}

static void add_notes(dsm_result_t *r)
{
    const options_t *opts = r->opts;
    if (opts->simulated)
        notes_add(&r->notes, "rails, copies and the programs' computation take "
                             "virtual time; faults themselves, twins and "
                             "comparisons take none");
}

static int solve(dsm_result_t *r, unsigned kind, progress_t *progress)
{
    uint64_t ns;
    bool all = true;
    for (unsigned seed = 0; all && seed < DSM_SEEDS; seed++) {
        progress_show(progress, "%s: %s: result %u of %u by one rank alone",
                      r->test->table.command, dsm_parts[kind]->name, seed + 1,
                      DSM_SEEDS);
        void *solution = dsm_parts[kind]->program->alone(r->opts, seed, &ns);
        r->solutions[kind][seed] = solution;
        all = solution;
    }
    if (all)
        return 0;
    char problem[128];
    dsm_parts[kind]->program->describe(r->opts, problem, sizeof problem);
    fprintf(stderr, "%s: %s: out of memory for %s\n", r->test->table.command,
            dsm_parts[kind]->name, problem);
    return -1;
}

/* Computes the expected results of each measured program. */
static int solve_all(dsm_result_t *r)
{
    progress_t progress;
    int rc = 0;
    progress_init(&progress);
    progress.on &= !r->opts->follows;
    for (unsigned p = 0; !rc && p < DSM_PARTS; p++)
        if (program_at(r->opts, p))
            rc = solve(r, p, &progress);
    progress_clear(&progress);
    return rc;
}

static int report(dsm_result_t *r, outputs_t *outputs, int status)
{
    const char *command = r->test->table.command;
    unsigned wrong = 0;
    if (r->opts->follows || (status && !r->cells[0].count))
        return status;
    if (outputs_report(outputs, dsm_report, r))
        return 1;
    for (unsigned i = 0; i < r->ncells; i++)
        wrong += r->cells[i].wrong;
    if (!wrong)
        return status;
    fprintf(stderr, "%s: in %u of %u rows, pages were not as written\n",
            command, wrong, r->ncells);
    return 1;
}

/* Measures programs on one rank. If this fails, the ranks' figures are still
 * reported. */
static int time_alone(dsm_result_t *r, const sampling_t *rule)
{
    const int rc = dsm_time_alone(r, rule);
    if (rc == DRAIL_ENOMEM)
        notes_add(&r->notes, "too little memory to run a program by one rank");
    if (rc != DRAIL_EINTR)
        return 0;
    r->partial = true;
    fprintf(stderr, "%s: interrupted; speed-ups are missing\n",
            r->test->table.command);
    return 1;
}

static int measure(dsm_result_t *r)
{
    const options_t *opts = r->opts;
    sampling_t rule = options_sampling(opts);
    /* before the fork: the ranks compare with these results */
    if (solve_all(r))
        return 1;
    add_notes(r);
    sampling_begin(&rule);
    int status = dsm_run(r);
    /* also when all was measured, but a rank was interrupted before its end:
     * speed-ups are missing */
    r->partial |= status != 0;
    return status || opts->simulated || opts->follows ? status
                                                      : time_alone(r, &rule);
}

static int run(const bench_test_t *test, const options_t *given)
{
    options_t opts = *given;
    outputs_t outputs = {0};
    dsm_result_t *r = NULL;
    int status = 2;
    dsm_setup_t *setups = calloc(DSM_SETUPS_MAX, sizeof *setups);
    if (settle(test, &opts) || dsm_memory_check(test, &opts) ||
        outputs_open(&outputs, &opts, test->table.command))
        goto out;
    status = 1;
    if (setups)
        r = dsm_result_create(test, &opts, setups,
                              dsm_setups_make(setups, &opts));
    if (!r) {
        fprintf(stderr, "%s: out of memory\n", test->table.command);
        goto out;
    }
    status = measure(r);
    if (status != 2)
        status = report(r, &outputs, status);
out:
    dsm_result_destroy(r);
    free(setups);
    outputs_discard(&outputs);
    return status;
}

const bench_test_t test_dsm = {
    .table = {.command = "railbench dsm",
              .summary = "Distributed shared memory: faults, ranges, diffs, "
                         "locks, barriers and programs.",
              .groups = OPTIONS_RAILS | OPTIONS_SIZES | OPTIONS_SAMPLES,
              .rows = rows,
              .nrows = sizeof rows / sizeof *rows},
    .name = "dsm",
    .sizes = "64K:4M",
    .defaults = defaults,
    .run = run,
};
