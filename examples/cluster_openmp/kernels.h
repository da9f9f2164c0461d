/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The computations of the programs in this folder, without the division of work
 * and data. `railbench dsm` measures the same.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------ Jacobi's iteration ---
 */

/** The mean of the four neighbours in rows of @p n points. */
static inline double jacobi_mean(const double *at, size_t n)
{
    return 0.25 * (at[-(ptrdiff_t)n] + at[n] + at[-1] + at[1]);
}

/* ------------------------------------------------------------ factorization
 * --- */

enum { LU_WIDTH = 32 }; /* columns of a panel, but for the last one */

/** The column behind the panel that begins with column @p first of @p n. */
static inline size_t lu_end(size_t n, size_t first)
{
    return first + LU_WIDTH < n ? first + LU_WIDTH : n;
}

static inline void lu_swap(double *x, size_t a, size_t b)
{
    const double value = x[a];
    x[a] = x[b];
    x[b] = value;
}

/** Step @p k of the elimination: @p x by the multipliers of column k. */
static inline void lu_eliminate(double *x, const double *column, size_t k,
                                size_t n)
{
    const double value = x[k];
    for (size_t i = k + 1; i < n; i++)
        x[i] -= column[i] * value;
}

/** All of step @p k within columns @p first to @p end - 1. @return the row that
 *  was swapped with row k. */
static inline size_t lu_step(double *const *column, size_t k, size_t first,
                             size_t end, size_t n)
{
    double *x = column[k];
    size_t pivot = k;
    for (size_t i = k + 1; i < n; i++)
        pivot = fabs(x[i]) > fabs(x[pivot]) ? i : pivot;
    for (size_t j = first; j < end; j++)
        lu_swap(column[j], k, pivot);
    for (size_t i = k + 1; i < n; i++)
        x[i] /= x[k];
    for (size_t j = k + 1; j < end; j++)
        lu_eliminate(column[j], x, k, n);
    return pivot;
}

/** A column @p x behind the panel that begins with column @p first, by that
 *  panel, which is factored. */
static inline void lu_update(double *const *column, const uint64_t *pivot,
                             size_t first, double *x, size_t n)
{
    const size_t end = lu_end(n, first);
    for (size_t k = first; k < end; k++)
        lu_swap(x, k, pivot[k]);
    for (size_t k = first; k < end; k++)
        lu_eliminate(x, column[k], k, n);
}

/** At the end: the multipliers of a column take part in the swaps of the panels
 *  after theirs. */
static inline void lu_finish(double *const *column, const uint64_t *pivot,
                             size_t j, size_t n)
{
    for (size_t k = lu_end(n, j / LU_WIDTH * LU_WIDTH); k < n; k++)
        lu_swap(column[j], k, pivot[k]);
}

/* ----------------------------------------------------------------- sorting ---
 */

enum { SORT_LOW_BITS = 6 }; /* of the keys of one bucket */

/** Sorts the @p n keys of one bucket, which differ in their low bits only. */
static inline void sort_bucket(uint32_t *keys, size_t n)
{
    uint32_t count[1 << SORT_LOW_BITS] = {0};
    const uint32_t values = 1 << SORT_LOW_BITS;
    const uint32_t high = n ? keys[0] - keys[0] % values : 0;
    for (size_t i = 0; i < n; i++)
        count[keys[i] % values]++;
    for (uint32_t value = 0; value < values; value++)
        while (count[value]--)
            *keys++ = high | value;
}

/* ------------------------------------------------------------------ bodies ---
 */

static const double BODY_STEP = 1e-3, BODY_SOFTENING = 1e-4;

/* The shared part of a body. One rank writes it, so it is one element. */
typedef struct body {
    double at[3], mass;
} body_t;

/** Body @p i after a step of all that attract it, and its new velocity. Forces
 *  are summed in the same order wherever that is. */
static inline body_t body_move(const body_t *bodies, size_t n, size_t i,
                               double velocity[3])
{
    body_t moved = bodies[i];
    double sum[3] = {0};
    for (size_t b = 0; b < n; b++) {
        double way[3], square = BODY_SOFTENING;
        for (size_t k = 0; k < 3; k++) {
            way[k] = bodies[b].at[k] - bodies[i].at[k];
            square += way[k] * way[k];
        }
        const double factor = bodies[b].mass / (square * sqrt(square));
        for (size_t k = 0; k < 3; k++)
            sum[k] += factor * way[k];
    }
    for (size_t k = 0; k < 3; k++) {
        velocity[k] += BODY_STEP * sum[k];
        moved.at[k] += BODY_STEP * velocity[k];
    }
    return moved;
}

#endif
