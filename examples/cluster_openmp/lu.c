/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU factorization with partial pivoting. The matrix is stored by columns, in
 * panels of some columns. Panels belong to the ranks in turn; the owner of a
 * panel is its home. The owner factors a panel; after a barrier all ranks read
 * it and update their own panels behind it.
 *
 * cc -fopenmp lu.c cluster.c options.c $(pkg-config --cflags --libs ddsm) -lm
 */
#include <math.h>
#include <stdlib.h>

#include "cluster.h"

enum { WIDTH = 32 }; /* columns of a panel, but for the last one */

typedef struct lu {
    cluster_t *c;
    size_t n;
    double **column; /* where each column is */
    uint64_t *pivot; /* row that was swapped with row k */
} lu_t;

static bool is_mine(const lu_t *l, size_t column)
{
    return column / WIDTH % l->c->ranks == l->c->rank;
}

static size_t end_of(const lu_t *l, size_t first)
{
    return first + WIDTH < l->n ? first + WIDTH : l->n;
}

/* The first matrix is random; others are made of the factors before, so that
 * what was wrong there is wrong at the end. */
static void next_matrix(const lu_t *l, double *x, size_t column, unsigned turn)
{
    for (size_t i = 0; i < l->n; i++)
        x[i] = turn ? x[i] - floor(x[i])
                    : cluster_uniform(l->c->ask.seed, column * l->n + i);
}

static void swap(double *x, size_t a, size_t b)
{
    const double value = x[a];
    x[a] = x[b];
    x[b] = value;
}

/* Step k of the elimination: x by the multipliers of column k. */
static void eliminate(double *x, const double *column, size_t k, size_t n)
{
    const double value = x[k];
    for (size_t i = k + 1; i < n; i++)
        x[i] -= column[i] * value;
}

/* All of step k, within some columns. @return the row that was swapped. */
static size_t step(double **column, size_t k, size_t first, size_t end,
                   size_t n)
{
    const double *x = column[k];
    size_t pivot = k;
    for (size_t i = k + 1; i < n; i++)
        pivot = fabs(x[i]) > fabs(x[pivot]) ? i : pivot;
    for (size_t j = first; j < end; j++)
        swap(column[j], k, pivot);
    for (size_t i = k + 1; i < n; i++)
        column[k][i] /= x[k];
    for (size_t j = k + 1; j < end; j++)
        eliminate(column[j], column[k], k, n);
    return pivot;
}

/* Fetches the used part of a panel at once, not fault by fault. */
static void prefetch(const lu_t *l, size_t first, bool writable)
{
    const size_t bytes = (end_of(l, first) - first) * l->n * sizeof(double);
    cluster_prefetch(l->c, l->column[first], bytes, writable);
}

/* Factors a panel; its owner calls this. */
static void factor(const lu_t *l, size_t first)
{
    const size_t end = end_of(l, first);
    prefetch(l, first, true);
    for (size_t k = first; k < end; k++) {
        cluster_pause(l->c);
        l->pivot[k] = step(l->column, k, first, end, l->n);
    }
}

/* Updates this rank's columns behind the panel. */
static void update(const lu_t *l, size_t first)
{
    const size_t n = l->n, end = end_of(l, first);
    prefetch(l, first, false);
    for (size_t panel = end; panel < n; panel += WIDTH)
        if (is_mine(l, panel))
            prefetch(l, panel, true);
#pragma omp parallel for schedule(dynamic, WIDTH / 4)
    for (size_t j = end; j < n; j++) {
        if (!is_mine(l, j))
            continue;
        cluster_pause(l->c);
        for (size_t k = first; k < end; k++)
            swap(l->column[j], k, l->pivot[k]);
        for (size_t k = first; k < end; k++)
            eliminate(l->column[j], l->column[k], k, n);
    }
}

/* Multipliers take part in the swaps of the panels after theirs. */
static void finish(const lu_t *l)
{
#pragma omp parallel for schedule(dynamic, WIDTH / 4)
    for (size_t j = 0; j < l->n; j++)
        if (is_mine(l, j))
            for (size_t k = end_of(l, j / WIDTH * WIDTH); k < l->n; k++)
                swap(l->column[j], k, l->pivot[k]);
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
            step(column, k, 0, n, n);
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
    l->column = cluster_private(l->c, l->n, sizeof *l->column);
    for (size_t first = 0; first < l->n; first += WIDTH) {
        place.rank = (unsigned)(first / WIDTH % l->c->ranks);
        const size_t end = end_of(l, first), column = l->n * sizeof(double);
        double *panel = cluster_alloc(l->c, (end - first) * column, &place);
        for (size_t j = first; j < end; j++)
            l->column[j] = panel + (j - first) * l->n;
    }
    place.homes = DDSM_BLOCK;
    l->pivot = cluster_alloc(l->c, l->n * sizeof *l->pivot, &place);
}

static bool run(cluster_t *c)
{
    const size_t n = c->ask.size;
    ddsm_t *d = cluster_open(c, (n + 1) * n * sizeof(double), n / WIDTH + 2);
    lu_t l = {.c = c, .n = n};
    alloc(&l);
    cluster_start(c);
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        for (size_t j = 0; j < n; j++)
            if (is_mine(&l, j))
                next_matrix(&l, l.column[j], j, t);
        for (size_t first = 0; first < n; first += WIDTH) {
            if (is_mine(&l, first))
                factor(&l, first);
            must(c, ddsm_barrier(d));
            update(&l, first);
        }
        /* all have read the panels by now; of pivots, others may still read
         * those after the first panel's, which wait for the next barrier */
        finish(&l);
    }
    cluster_stop(c);
    const bool same = c->rank || check(&l);
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
