/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights that are numbers one by one, and none together. */
#include "ranks.h"

static void too_heavy(struct rank *r)
{
    drail_config_t cfg;
    drail_error_t err = {0};
    drail_t *t;
    drail_config_init(&cfg);
    cfg.policy = DRAIL_POLICY_WEIGHTED;
    cfg.weights[0] = cfg.weights[1] = 1.5e308;
    take_rails(&cfg, 2);
    check(drail_open(r->job, &cfg, &t, &err) == DRAIL_EINVAL);
    check(strstr(err.text, "weight") || strstr(err.text, "rank 0"));
}

static const struct test tests[] = {
    {"too heavy", 2, too_heavy, NULL, APART},
};

RUN_TESTS(tests)
