/* SPDX-License-Identifier: BSD-3-Clause */
/* All algorithms of all collectives on many simulated ranks, every byte
 * checked. */
#ifndef TESTS_SIM_ALL_H
#define TESTS_SIM_ALL_H

#include <stdbool.h>
#include <stddef.h>

struct sim_all {
    unsigned ranks, ppn;
    size_t bytes;     /* of a block */
    const char *only; /* COLLECTIVE/ALGORITHM, each between blanks; or NULL */
};

/* On the cluster "many": has all gone well? */
bool sim_all_run(const struct sim_all *all);

#endif
