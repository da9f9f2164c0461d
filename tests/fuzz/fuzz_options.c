/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of railbench: the first byte chooses the test, each line is
 * an argument. */
#include <math.h>

#include "bench/options/plan.h"
#include "bench/test.h"
#include "fuzz.h"

#define ARGUMENTS 16

static const bench_test_t *const tests[] = {
    &test_bw,        &test_lat,   &test_breakdown, &test_limits,
    &test_allgather, &test_bcast, &test_verify,    &test_tune,
    &test_check,     &test_diff,  &test_alltoallv, &test_reduce};
#define TESTS (sizeof tests / sizeof tests[0])

static void look(const options_t *opts)
{
    plan_t plan;
    char text[DRAIL_MAX_RAILS * (DRAIL_NAME_MAX + 1)];
    must(opts->nrails >= 1 && opts->nrails <= DRAIL_MAX_RAILS);
    must(opts->nsizes <= SIZES_MAX && opts->nsaves <= SAVES_MAX);
    for (unsigned i = 0; i < opts->nsizes; i++)
        must(opts->sizes[i] <= SIZES_LIMIT);
    for (unsigned i = 0; i < opts->nweights; i++)
        must(isfinite(opts->weights[i]) && opts->weights[i] >= 0);
    plan_make(&plan, opts);
    must(plan.count <= PLAN_MAX);
    for (unsigned i = 0; i < plan.count; i++) {
        setup_rails(&plan.setups[i], opts, text, sizeof text);
        setup_label(&plan.setups[i], opts, text, sizeof text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    static char words[ARGUMENTS][512];
    char *args[ARGUMENTS];
    options_t opts;
    int nargs = 0;
    const bench_test_t *test = tests[input_byte(&in) % TESTS];
    while (in.left && nargs < ARGUMENTS) {
        args[nargs] = words[nargs];
        input_line(&in, words[nargs++], sizeof words[0]);
    }
    options_init(&opts, test->sizes);
    if (options_parse(&opts, &test->table, nargs, args) == PARSED_OK)
        look(&opts);
    options_free(&opts);
    return 0;
}
