/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines over the first rails of the list, on the same connections. */
#ifndef BENCH_DSM_SETUP_H
#define BENCH_DSM_SETUP_H

#include "bench/options/plan.h"

/** Is this part of the test to be measured? */
bool dsm_chosen(const options_t *opts, dsm_kind_t kind);

typedef struct dsm_setup {
    setup_t how;
    unsigned nrails; /**< that are used */
} dsm_setup_t;

#define DSM_SETUPS_MAX (PLAN_MAX * DRAIL_MAX_RAILS)

/**
 * Engine single on each rail; the others on the first 2, 3 ... all rails, but
 * auto, which chooses rails itself, and policies that do not cut messages
 * evenly, on all.
 * @param setups room for DSM_SETUPS_MAX. @return how many there are.
 */
unsigned dsm_setups_make(dsm_setup_t *setups, const options_t *opts);

/** Makes the transport do so. */
int dsm_setup_apply(const dsm_setup_t *setup, const options_t *opts,
                    drail_t *rail);

/** Names of the rails, joined by '+'. */
void dsm_setup_rails(const dsm_setup_t *setup, const options_t *opts,
                     char *text, size_t size);

#endif
