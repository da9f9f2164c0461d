/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "plan.h"

static void plan_add(plan_t *plan, drail_engine_t engine, drail_team_t team,
                     drail_policy_t policy, unsigned rail)
{
    plan->setups[plan->count++] = (setup_t){engine, team, policy, rail};
}

void plan_make(plan_t *plan, const options_t *opts)
{
    plan->count = 0;
    for (unsigned e = 0; e < opts->nengines; e++) {
        drail_engine_t engine = opts->engines[e];
        if (engine == DRAIL_ENGINE_SINGLE) {
            for (unsigned r = 0; r < opts->nrails; r++)
                plan_add(plan, engine, DRAIL_TEAM_RESIDENT, DRAIL_POLICY_FIXED,
                         r);
            continue;
        }
        unsigned teams = engine == DRAIL_ENGINE_THREADED ? opts->nteams : 1;
        for (unsigned t = 0; t < teams; t++)
            for (unsigned p = 0; p < opts->npolicies; p++)
                plan_add(plan, engine, opts->teams[t], opts->policies[p], 0);
    }
}

bool setup_one_rail(const setup_t *setup)
{
    return setup->engine == DRAIL_ENGINE_SINGLE ||
           setup->policy == DRAIL_POLICY_FIXED;
}

int plan_single(const plan_t *plan, unsigned rail)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->setups[i].engine == DRAIL_ENGINE_SINGLE &&
            plan->setups[i].rail == rail)
            return (int)i;
    return -1;
}

void setup_rails(const setup_t *setup, const options_t *opts, char *text,
                 size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned r = 0; r < opts->nrails && used < size; r++) {
        if (setup_one_rail(setup) && r != setup->rail)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used ? "+" : "", opts->rails[r]);
    }
}

void setup_label(const setup_t *setup, const options_t *opts, char *text,
                 size_t size)
{
    int n = snprintf(text, size, "%s", drail_engine_name(setup->engine));
    size_t used = (size_t)n;
    if (setup->engine == DRAIL_ENGINE_THREADED && opts->nteams > 1)
        used += (size_t)snprintf(text + used, size - used, "/%s",
                                 drail_team_name(setup->team));
    if (setup->engine != DRAIL_ENGINE_SINGLE && opts->npolicies > 1)
        snprintf(text + used, size - used, " %s",
                 drail_policy_name(setup->policy));
}
