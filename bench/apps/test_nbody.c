/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "nbody.h"

#define AT(member) offsetof(options_t, apps.member)

static const option_row_t rows[] = {
    {"--bodies", "N", "how many (default 4096)", .parse = option_parse_count,
     .field = AT(bodies), .min = 2, .max = 1 << 24},
    {"--steps", "N", "of time (default 10)", .parse = option_parse_count,
     .field = AT(steps), .min = 1, .max = 100000},
    {"--theta", "T",
     "cells are opened whose side is not below T times their distance "
     "(default 1)",
     .parse = option_parse_number, .field = AT(theta), .max = 2},
    {"--rebalance", "N",
     "steps between two samples, by which bodies are dealt to ranks "
     "(default 3)",
     .parse = option_parse_count, .field = AT(rebalance), .min = 1,
     .max = 100000},
    APP_OPTION_ROWS,
};

static void defaults(options_t *opts)
{
    opts->apps = (struct apps_options){
        .draw = 1, .bodies = 4096, .steps = 10, .rebalance = 3, .theta = 1};
}

static int run(const bench_test_t *test, const options_t *opts)
{
    return app_test(&nbody_app, test, opts);
}

const bench_test_t test_nbody = {
    .table = {.command = "railbench nbody",
              .summary = "Time of the application N-BODY (Barnes-Hut), checked "
                         "against a single rank.",
              .groups = OPTIONS_RAILS | OPTIONS_SHAPE | OPTIONS_ALGORITHM |
                        OPTIONS_SELECT | OPTIONS_WAYS | OPTIONS_ELEMENTS,
              .rows = rows,
              .nrows = sizeof rows / sizeof *rows},
    .name = "nbody",
    .sizes = "8",
    .defaults = defaults,
    .run = run,
    .collective = DCOLL_ALLGATHER,
};
