/* SPDX-License-Identifier: BSD-3-Clause */
/* railbench: `railbench TEST [options]`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/launch/launch.h"
#include "bench/launch/pairing.h"
#include "bench/startup.h"
#include "bench/options/completion.h"
#include "bench/options/spelling.h"
#include "test.h"

static const bench_test_t *const tests[] = {
    &test_bw,        &test_bibw,      &test_lat,
    &test_breakdown, &test_limits,    &test_gather,
    &test_allgather, &test_alltoall,  &test_alltoallv,
    &test_bcast,     &test_scatter,   &test_barrier,
    &test_reduce,    &test_allreduce, &test_reduce_scatter_block,
    &test_scan,      &test_exscan,    &test_verify,
    &test_tune,      &test_check,     &test_degrade,
    &test_mbw,       &test_rate,      &test_nbody,
    &test_radix,     &test_diff,      &test_suite,
    &test_get,       &test_send,      &test_atomic,
    &test_dsm,       &test_memcpy,    &test_goal};

#define TESTS (sizeof tests / sizeof *tests)

static bool is_called(const bench_test_t *test, const char *name)
{
    return !strcmp(name, test->name) ||
           (test->alias && !strcmp(name, test->alias));
}

static void print_alias(FILE *file, const bench_test_t *test)
{
    if (test->alias)
        fprintf(file, " (also %s)", test->alias);
}

static void print_usage(FILE *file)
{
    fputs("usage: railbench TEST [options]\n\n", file);
    for (size_t i = 0; i < TESTS; i++) {
        fprintf(file, "  %-20s %s", tests[i]->name, tests[i]->table.summary);
        print_alias(file, tests[i]);
        fputc('\n', file);
    }
    fputs(
        "\n'railbench TEST --help' lists the options of a test; bash completes "
        "them after\n'source <(railbench completion)'.\n",
        file);
}

static int wrong_test(const char *name)
{
    spelling_t spelling = spelling_of(name);
    for (size_t i = 0; i < TESTS; i++) {
        spelling_try(&spelling, tests[i]->name);
        if (tests[i]->alias)
            spelling_try(&spelling, tests[i]->alias);
    }
    fprintf(stderr, "railbench: TEST: '%s' is wrong; allowed: ", name);
    for (size_t i = 0; i < TESTS; i++) {
        fprintf(stderr, "%s%s", i ? ", " : "", tests[i]->name);
        print_alias(stderr, tests[i]);
    }
    fputs(" (see railbench --help)", stderr);
    spelling_ask(&spelling, stderr);
    return 2;
}

static parsed_t read_options(const bench_test_t *test, options_t *opts,
                             int argc, char **argv)
{
    options_init(opts, test->sizes);
    if (test->time_budget > 0)
        opts->time_budget = test->time_budget;
    if (test->breakdown)
        opts->threshold = 0;
    if (test->table.groups & (OPTIONS_ALGORITHM | OPTIONS_COLLECTIVE))
        options_one_engine(opts);
    if (test->defaults)
        test->defaults(opts);
    opts->argc = argc;
    opts->argv = argv;
    return options_parse(opts, &test->table, argc - 2, argv + 2);
}

/* With the options of both sides. */
static int run_paired(const bench_test_t *test, const options_t *own)
{
    options_t opts = {0};
    struct table_copy table = {0};
    int argc;
    char **argv = NULL;
    int status = pairing_agree(own, &test->table, &argc, &argv);
    if (!status)
        status = read_options(test, &opts, argc, argv) == PARSED_OK ? 0 : 2;
    if (!status) {
        opts.launch = own->launch;
        opts.copy = &table;
        launch_settle(&opts, &test->table);
        status = test->run(test, &opts);
        if (status != 2)
            pairing_tell(&opts, &table);
    }
    free(table.text);
    options_free(&opts);
    pairing_free(argv);
    return status;
}

static int run(const bench_test_t *of, const char *name, int argc, char **argv)
{
    bench_test_t test = *of;
    char command[64]; /* messages say what the user has typed */
    snprintf(command, sizeof command, "railbench %s", name);
    test.table.command = command;
    options_t opts;
    int status = 2;
    parsed_t parsed = read_options(&test, &opts, argc, argv);
    const bool paired = parsed == PARSED_OK && pairing_wanted(&opts);
    if (parsed == PARSED_HELP)
        status = 0;
    else if (parsed == PARSED_OK)
        status = paired ? pairing_begin(&opts, &test.table) : 0;
    if (parsed == PARSED_OK && !status)
        status = launch_open(&opts, &test.table);
    if (parsed == PARSED_OK && !status)
        status = paired ? run_paired(&test, &opts) : test.run(&test, &opts);
    launch_close(&opts);
    options_free(&opts);
    return status;
}

/* The first word is one of the tests, the others are their options. */
static int print_completion(void)
{
    completion_begin();
    for (size_t i = 0; i < TESTS; i++)
        completion_test(tests[i]->name, tests[i]->alias,
                        tests[i]->become ? NULL : &tests[i]->table);
    fputs("    '') echo", stdout);
    for (size_t i = 0; i < TESTS; i++)
        printf(" %s", tests[i]->name);
    puts(" completion --help --version ;;");
    completion_end();
    return 0;
}

static int run_named(const char *name, int argc, char **argv)
{
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        print_usage(stdout);
        return 0;
    }
    if (!strcmp(name, "--version")) {
        printf("railbench %s\n", DRAIL_VERSION);
        return 0;
    }
    if (!strcmp(name, "completion"))
        return print_completion();
    for (size_t i = 0; i < TESTS; i++) {
        if (!is_called(tests[i], name))
            continue;
        if (tests[i]->become)
            return tests[i]->become(argc - 2, argv + 2);
        return run(tests[i], name, argc, argv);
    }
    return wrong_test(name);
}

int main(int argc, char **argv)
{
    startup();
    if (argc < 2) {
        print_usage(stderr);
        return 2;
    }
    return finish("railbench", run_named(argv[1], argc, argv));
}
