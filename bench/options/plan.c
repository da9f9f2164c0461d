/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "plan.h"

static void plan_add(plan_t *plan, const options_t *opts, setup_t setup)
{
    for (unsigned o = 0; o < opts->nops; o++) {
        unsigned ways = opts->ops[o] == OP_PUT ? opts->nnotify_bys : 1;
        setup.op = opts->ops[o];
        for (unsigned n = 0; n < ways; n++) {
            setup.notify_by =
                setup.op == OP_PUT ? opts->notify_bys[n] : DRAIL_NOTIFY_BY_AUTO;
            plan->setups[plan->count++] = setup;
        }
    }
}

static void plan_single_rails(plan_t *plan, const options_t *opts)
{
    for (unsigned r = 0; r < opts->nrails; r++)
        plan_add(plan, opts,
                 (setup_t){.engine = DRAIL_ENGINE_SINGLE,
                           .policy = DRAIL_POLICY_FIXED,
                           .rail = r});
}

/* With every team or way to wait, if the engine has them. */
static void plan_ways(plan_t *plan, const options_t *opts, setup_t setup)
{
    if (setup.engine == DRAIL_ENGINE_THREADED) {
        for (unsigned t = 0; t < opts->nteams; t++) {
            setup.team = opts->teams[t];
            for (unsigned p = 0; p < opts->npolicies; p++) {
                setup.policy = opts->policies[p];
                plan_add(plan, opts, setup);
            }
        }
        return;
    }
    for (unsigned p = 0; p < opts->npolicies; p++) {
        setup.policy = opts->policies[p];
        for (unsigned w = 0; w < opts->nwaitings; w++) {
            setup.waiting = opts->waitings[w];
            plan_add(plan, opts, setup);
        }
    }
}

void plan_make(plan_t *plan, const options_t *opts)
{
    plan->count = 0;
    for (unsigned e = 0; e < opts->nengines; e++) {
        if (opts->engines[e] == DRAIL_ENGINE_SINGLE)
            plan_single_rails(plan, opts);
        else
            plan_ways(plan, opts, (setup_t){.engine = opts->engines[e]});
    }
}

bool setup_one_rail(const setup_t *setup)
{
    return setup->engine == DRAIL_ENGINE_SINGLE ||
           setup->policy == DRAIL_POLICY_FIXED;
}

bool setup_waits(const setup_t *setup)
{
    return setup->engine != DRAIL_ENGINE_SINGLE &&
           setup->engine != DRAIL_ENGINE_THREADED;
}

int plan_single(const plan_t *plan, unsigned rail, const setup_t *like)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->setups[i].engine == DRAIL_ENGINE_SINGLE &&
            plan->setups[i].rail == rail && plan->setups[i].op == like->op &&
            plan->setups[i].notify_by == like->notify_by)
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

void setup_variant(const setup_t *setup, char *text, size_t size)
{
    static const char *const variants[OP_KINDS] = {
        [OP_PUT] = "",
        [OP_GET] = "get",
        [OP_SEND] = "send-recv", /* send is a way to notify */
        [OP_FETCH_ADD] = "fetch-add",
        [OP_CMP_SWAP] = "cmp-swap",
    };
    const char *words[] = {variants[setup->op],
                           setup->waiting != DRAIL_WAITING_ANY
                               ? drail_waiting_name(setup->waiting)
                               : "",
                           setup->notify_by != DRAIL_NOTIFY_BY_AUTO
                               ? drail_notify_by_name(setup->notify_by)
                               : ""};
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < sizeof words / sizeof *words && used < size; i++)
        if (*words[i])
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used ? "+" : "", words[i]);
}

const char *op_name(op_kind_t op)
{
    static const char *const names[OP_KINDS] = {OP_NAMES};
    return names[op];
}

void setup_label(const setup_t *setup, const options_t *opts, char *text,
                 size_t size)
{
    int n = snprintf(text, size, "%s", drail_engine_name(setup->engine));
    size_t used = (size_t)n;
    if (setup->engine == DRAIL_ENGINE_THREADED && opts->nteams > 1)
        used += (size_t)snprintf(text + used, size - used, "/%s",
                                 drail_team_name(setup->team));
    char variant[32];
    setup_t compared = *setup; /* common values are no part of the label */
    if (opts->nops == 1)
        compared.op = OP_PUT;
    if (opts->nwaitings == 1)
        compared.waiting = DRAIL_WAITING_ANY;
    if (opts->nnotify_bys == 1)
        compared.notify_by = DRAIL_NOTIFY_BY_AUTO;
    setup_variant(&compared, variant, sizeof variant);
    if (*variant)
        used += (size_t)snprintf(text + used, size - used, "/%s", variant);
    if (setup->engine != DRAIL_ENGINE_SINGLE && opts->npolicies > 1)
        snprintf(text + used, size - used, " %s",
                 drail_policy_name(setup->policy));
}
