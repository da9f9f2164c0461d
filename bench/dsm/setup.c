/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "setup.h"

bool dsm_chosen(const options_t *opts, dsm_kind_t kind)
{
    bool chosen = !opts->dsm.nparts;
    for (unsigned i = 0; i < opts->dsm.nparts; i++)
        chosen |= opts->dsm.parts[i] == kind;
    return chosen;
}

/* Can this setup also run over the first few rails only? */
static bool has_subsets(const setup_t *how)
{
    return how->engine != DRAIL_ENGINE_AUTO && how->policy == DRAIL_POLICY_EVEN;
}

unsigned dsm_setups_make(dsm_setup_t *setups, const options_t *opts)
{
    plan_t plan;
    unsigned count = 0;
    plan_make(&plan, opts);
    for (unsigned i = 0; i < plan.count; i++) {
        const setup_t *how = &plan.setups[i];
        unsigned n = setup_one_rail(how)                    ? 1
                     : has_subsets(how) && opts->nrails > 1 ? 2
                                                            : opts->nrails;
        unsigned last = setup_one_rail(how) ? 1 : opts->nrails;
        for (; n <= last; n++)
            setups[count++] = (dsm_setup_t){*how, n};
    }
    return count;
}

/* The weights of --weights, else nominal rates, else equal ones, as in
 * drail_open. */
static void configured(const options_t *opts, const drail_t *rail,
                       double *weights)
{
    bool nominal = true;
    for (unsigned r = 0; r < opts->nrails; r++)
        nominal &= drail_rail_at(rail, r)->nominal_MBps > 0;
    for (unsigned r = 0; r < opts->nrails; r++)
        weights[r] = opts->nweights ? opts->weights[r]
                     : nominal      ? drail_rail_at(rail, r)->nominal_MBps
                                    : 1;
}

/* Even parts for some of the rails are set as weights of 1 and 0. */
int dsm_setup_apply(const dsm_setup_t *setup, const options_t *opts,
                    drail_t *rail)
{
    const setup_t *how = &setup->how;
    bool some = !setup_one_rail(how) && setup->nrails < opts->nrails;
    double weights[DRAIL_MAX_RAILS];
    configured(opts, rail, weights);
    for (unsigned r = 0; some && r < opts->nrails; r++)
        weights[r] = r < setup->nrails;
    int rc = drail_set_policy(
        rail, some ? DRAIL_POLICY_WEIGHTED : how->policy,
        some || how->policy == DRAIL_POLICY_WEIGHTED ? weights : NULL,
        how->rail);
    if (!rc)
        rc = drail_set_engine(rail, how->engine, how->team);
    return rc ? rc : drail_set_waiting(rail, how->waiting);
}

void dsm_setup_rails(const dsm_setup_t *setup, const options_t *opts,
                     char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < setup->nrails && used < size; i++)
        used += (size_t)snprintf(
            text + used, size - used, "%s%s", i ? "+" : "",
            opts->rails[setup_one_rail(&setup->how) ? setup->how.rail : i]);
}
