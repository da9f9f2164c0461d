/* SPDX-License-Identifier: BSD-3-Clause */
/* N-BODY: bodies under gravity over a number of steps. */
#ifndef BENCH_APPS_NBODY_H
#define BENCH_APPS_NBODY_H

#include "app.h"
#include "bodies.h"
#include "tree.h"

/** Of SPLASH-2's BARNES (S. Woo et al., "The SPLASH-2 programs", 1995). */
#define NBODY_STEP 0.025 /* of time */
#define NBODY_SOFT 0.05  /* softening length */

typedef struct nbody {
    size_t n;
    unsigned steps, rebalance;
    double theta2;
    body_t *start;    /**< n, by their id */
    body_t *solution; /**< ... after all steps */
    double kinetic;   /**< energy, then */
    cell_t *items;    /**< room for n of them, and for their tree */
    cell_t *cells;
} nbody_t;

/** Room for n bodies. @return 0 or DRAIL_ENOMEM; nbody_free in either case. */
int nbody_make(nbody_t *problem, size_t n);
void nbody_free(nbody_t *problem);

/** The solution is at the start again. */
void nbody_reset(nbody_t *problem);
/** All steps, sequentially: sets the solution. @return operations that it has
 *  taken. */
double nbody_solve(nbody_t *problem);

/* Operations of each part, counted in its source: for the simulated time. */
double nbody_sort_operations(size_t bodies);
double nbody_tree_operations(size_t items);
double nbody_force_operations(uint64_t looks);
double nbody_motion_operations(size_t bodies);

extern const app_t nbody_app;

#endif
