/* SPDX-License-Identifier: BSD-3-Clause */
/* Jacobi's method on a grid whose border is fixed: each cell becomes the mean
 * of the four around it. */
#ifndef BENCH_DSM_JACOBI_H
#define BENCH_DSM_JACOBI_H

#include <stdint.h>

/** Operations for a cell in a step. */
#define JACOBI_OPERATIONS 4

typedef struct jacobi {
    uint64_t rows, columns, steps;
    double *solution; /**< by one rank alone, owned */
} jacobi_t;

/** Rows first to last - 1 as they are in the beginning. */
void jacobi_begin(const jacobi_t *j, double *grid, uint64_t first,
                  uint64_t last);
/** A step of these rows, but of the border. */
void jacobi_sweep(const jacobi_t *j, const double *from, double *to,
                  uint64_t first, uint64_t last);
/** Cells of these rows that a sweep computes. */
uint64_t jacobi_cells(const jacobi_t *j, uint64_t first, uint64_t last);

/** Fills in the solution. @param ns set to the time of the steps. @return 0,
 *  -1: out of memory. */
int jacobi_solve(jacobi_t *j, uint64_t *ns);
void jacobi_free(jacobi_t *j);

#endif
