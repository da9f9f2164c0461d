/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU factorization with partial pivoting. The matrix is stored by columns, in
 * panels of some columns. Panels belong to the ranks in turn; the owner of a
 * panel is its home. The owner factors a panel; after a barrier all ranks read
 * it and update their own panels behind it. The rows that were swapped lie
 * behind the panel's columns, so both come at once.
 *
 * cc -fopenmp lu.c cluster.c options.c $(pkg-config --cflags --libs ddsm) -lm
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "kernels.h"

typedef struct lu {
    cluster_t *c;
    size_t n;
    double **column; /* where each column is */
    uint64_t *pivot; /* private: row that was swapped with row k */
} lu_t;

static bool is_mine(const lu_t *l, size_t column)
{
    return column / LU_WIDTH % l->c->ranks == l->c->rank;
}

/* The first matrix is random; others are made of the factors before, so that
 * what was wrong there is wrong at the end. */
static void next_matrix(const lu_t *l, double *x, size_t column, unsigned turn)
{
    for (size_t i = 0; i < l->n; i++)
        x[i] = turn ? x[i] - floor(x[i])
                    : cluster_uniform(l->c->ask.seed, column * l->n + i);
}

static size_t panel_bytes(size_t n, size_t first)
{
    return (lu_end(n, first) - first) * (n * sizeof(double) + sizeof(uint64_t));
}

/* The shared rows that were swapped in a panel. */
static uint64_t *swapped(const lu_t *l, size_t first)
{
    return (uint64_t *)(l->column[lu_end(l->n, first) - 1] + l->n);
}

/* Fetches a panel at once, not fault by fault. */
static void prefetch(const lu_t *l, size_t first, bool writable)
{
    cluster_prefetch(l->c, l->column[first], panel_bytes(l->n, first),
                     writable);
}

/* Makes this rank's panels from @first on writable. */
static void prefetch_mine(const lu_t *l, size_t first)
{
    for (size_t panel = first; panel < l->n; panel += LU_WIDTH)
        if (is_mine(l, panel))
            prefetch(l, panel, true);
}

/* Factors a panel; its owner calls this. */
static void factor(const lu_t *l, size_t first)
{
    const size_t end = lu_end(l->n, first);
    prefetch(l, first, true);
    for (size_t k = first; k < end; k++) {
        cluster_pause(l->c);
        l->pivot[k] = lu_step(l->column, k, first, end, l->n);
    }
    memcpy(swapped(l, first), l->pivot + first,
           (end - first) * sizeof *l->pivot);
}

/* Updates this rank's columns behind the panel. */
static void update(const lu_t *l, size_t first)
{
    const size_t n = l->n, end = lu_end(l->n, first);
    const size_t swaps = (end - first) * sizeof *l->pivot;
    if (end < n)
        prefetch(l, first, false);
    else /* only the swapped rows of the last panel are needed */
        cluster_prefetch(l->c, swapped(l, first), swaps, false);
    memcpy(l->pivot + first, swapped(l, first), swaps);
    prefetch_mine(l, end);
#pragma omp parallel for schedule(dynamic, LU_WIDTH / 4)
    for (size_t j = end; j < n; j++) {
        if (!is_mine(l, j))
            continue;
        cluster_pause(l->c);
        lu_update(l->column, l->pivot, first, l->column[j], n);
    }
}

static void finish(const lu_t *l)
{
    prefetch_mine(l, 0);
#pragma omp parallel for schedule(dynamic, LU_WIDTH / 4)
    for (size_t j = 0; j < l->n; j++)
        if (is_mine(l, j))
            lu_finish(l->column, l->pivot, j, l->n);
}

/* The same by one thread, as in a textbook, in private memory. */
static bool check(const lu_t *l)
{
    cluster_t *c = l->c;
    const size_t n = l->n;
    double *matrix = cluster_private(c, n * n, sizeof(double));
    double **column = cluster_private(c, n, sizeof *column);
    bool same = true;
    for (size_t j = 0; j < n; j++)
        column[j] = matrix + j * n;
    const double start = cluster_seconds();
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        for (size_t j = 0; j < n; j++)
            next_matrix(l, column[j], j, t);
        for (size_t k = 0; k < n; k++)
            lu_step(column, k, 0, n, n);
    }
    c->alone = cluster_seconds() - start;
    for (size_t j = 0; j < n && same; j++)
        same = cluster_same(c, "element of a column", l->column[j], column[j],
                            n, sizeof(double));
    free(column);
    free(matrix);
    return same;
}

static void alloc(lu_t *l)
{
    ddsm_place_t place = {.element = sizeof(double), .homes = DDSM_ONE};
    const size_t n = l->n;
    l->column = cluster_private(l->c, n, sizeof *l->column);
    l->pivot = cluster_private(l->c, n, sizeof *l->pivot);
    for (size_t first = 0; first < n; first += LU_WIDTH) {
        place.rank = (unsigned)(first / LU_WIDTH % l->c->ranks);
        double *column = cluster_alloc(l->c, panel_bytes(n, first), &place);
        for (size_t j = first; j < lu_end(n, first); j++, column += n)
            l->column[j] = column;
    }
}

static bool run(cluster_t *c)
{
    const size_t n = c->ask.size;
    ddsm_t *d = cluster_open(c, (n + 1) * n * sizeof(double), n / LU_WIDTH + 1);
    lu_t l = {.c = c, .n = n};
    alloc(&l);
    cluster_start(c);
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        prefetch_mine(&l, 0);
        for (size_t j = 0; j < n; j++)
            if (is_mine(&l, j))
                next_matrix(&l, l.column[j], j, t);
        for (size_t first = 0; first < n; first += LU_WIDTH) {
            if (is_mine(&l, first))
                factor(&l, first);
            must(c, ddsm_barrier(d));
            update(&l, first);
        }
        /* all have read the panels' columns by now. Others may still read which
         * rows were swapped in the last panel; that is written only behind the
         * next barrier, or is of no use to them, if there is one panel */
        finish(&l);
    }
    cluster_stop(c);
    const bool same = c->rank || check(&l);
    free(l.pivot);
    free(l.column);
    return same;
}

int main(int argc, char **argv)
{
    static const program_t lu = {
        .name = "lu",
        .about = "LU factorization with pivoting in shared memory.",
        .size_is = "rows and columns",
        .size = 768,
        .least = 1,
        .most = 32768,
        .iterations = 1,
        .run = run,
    };
    return cluster_main(&lu, argc, argv);
}
