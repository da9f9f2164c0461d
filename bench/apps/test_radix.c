/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "radix.h"

#define AT(member) offsetof(options_t, apps.member)

static const option_row_t rows[] = {
    {"--keys", "N", "how many (default 262144)", .parse = option_parse_count,
     .field = AT(keys), .min = 1, .max = 1 << 28},
    {"--bits", "N", "of a key (default 20)", .parse = option_parse_count,
     .field = AT(bits), .min = 1, .max = 32},
    {"--digit", "N",
     "bits that a pass sorts by; blocks of all-gathers have 4 x 2^N bytes "
     "(default 10)",
     .parse = option_parse_count, .field = AT(digit), .min = 1, .max = 16},
    APP_OPTION_ROWS,
};

static void defaults(options_t *opts)
{
    opts->apps = (struct apps_options){
        .draw = 1, .keys = 1 << 18, .bits = 20, .digit = 10};
}

static int run(const bench_test_t *test, const options_t *opts)
{
    return app_test(&radix_app, test, opts);
}

const bench_test_t test_radix = {
    .table = {.command = "railbench radix",
              .summary = "Time of the application RADIX (a radix sort), "
                         "checked against a single rank.",
              .groups = OPTIONS_RAILS | OPTIONS_SHAPE | OPTIONS_ALGORITHM |
                        OPTIONS_SELECT | OPTIONS_WAYS | OPTIONS_ELEMENTS,
              .rows = rows,
              .nrows = sizeof rows / sizeof *rows},
    .name = "radix",
    .sizes = "8",
    .defaults = defaults,
    .run = run,
    .collective = DCOLL_ALLGATHER,
};
