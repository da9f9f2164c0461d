/* SPDX-License-Identifier: BSD-3-Clause */
/* The defaults of all options. */
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

void options_free(options_t *opts)
{
    while (opts->nsaves)
        free(opts->saves[--opts->nsaves]);
}

void options_init(options_t *opts, const char *sizes)
{
    *opts = (options_t){
        .engines = {DRAIL_ENGINE_SINGLE, DRAIL_ENGINE_NONTHREADED,
                    DRAIL_ENGINE_THREADED},
        .nengines = 3,
        .teams = {DRAIL_TEAM_RESIDENT},
        .nteams = 1,
        .policies = {DRAIL_POLICY_EVEN},
        .npolicies = 1,
        .nwaitings = 1,
        .nnotify_bys = 1,
        .ops = {OP_PUT},
        .nops = 1,
        .threshold = THRESHOLD_DEFAULT,
        .rank = RANK_DEFAULT,
        .connect_time = 30,
        .draws = 3,
        .type = DCOLL_DOUBLE,
        .op = DCOLL_SUM,
        .batch = 20,
        .units = {UNIT_MBPS},
        .nunits = 1,
        .warmup = WARMUP_DEFAULT,
        .precision = 0.025,
        .time_budget = 60,
        .format = FORMAT_TABLE,
    };
    sizes_parse(sizes, opts->sizes, &opts->nsizes);

    drail_config_t cfg;
    drail_config_init(&cfg);
    opts->waitings[0] = cfg.waiting;
    opts->notify_bys[0] = cfg.notify_by;
    opts->eps = cfg.eps;
    opts->align = cfg.stripe_align;
    opts->nrails = cfg.nrails;
    for (unsigned i = 0; i < cfg.nrails; i++)
        snprintf(opts->rails[i], DRAIL_NAME_MAX, "%s", cfg.rails[i]);
}

void options_one_engine(options_t *opts)
{
    opts->engines[0] = DRAIL_ENGINE_NONTHREADED;
    opts->nengines = 1;
}
