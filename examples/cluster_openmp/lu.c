/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU factorization with partial pivoting. The matrix lies column after column,
 * in panels of some columns, which belong to the ranks in turn: the home of a
 * panel is who writes it. Its owner factors a panel; after a barrier all ranks
 * read it and update the panels of theirs that come after it.
 *
 * cc -fopenmp lu.c cluster.c options.c $(pkg-config --cflags --libs ddsm) -lm
 */
#include <math.h>
#include <stdint.h>
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

/* --- what one thread does with one column or two -------------------------- */

static void fill(double *x, size_t column, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = cluster_uniform(seed, column * n + i);
}

/* The next matrix is made of the last one's factors, so that what was wrong
 * there is wrong at the end. */
static void stir(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] -= floor(x[i]);
}

static size_t find_pivot(const double *x, size_t k, size_t n)
{
    size_t at = k;
    for (size_t i = k + 1; i < n; i++)
        if (fabs(x[i]) > fabs(x[at]))
            at = i;
    return at;
}

static void swap(double *x, size_t a, size_t b)
{
    const double value = x[a];
    x[a] = x[b];
    x[b] = value;
}

static void divide(double *x, size_t k, size_t n)
{
    for (size_t i = k + 1; i < n; i++)
        x[i] /= x[k];
}

/* Step k of the elimination: x by the multipliers of column k. */
static void eliminate(double *x, const double *column, size_t k, size_t n)
{
    const double value = x[k];
    for (size_t i = k + 1; i < n; i++)
        x[i] -= column[i] * value;
}

/* --- what ranks do -------------------------------------------------------- */

/* The owner, by itself. Rows are swapped within the panel only. */
static void factor(const lu_t *l, size_t first)
{
    const size_t end = end_of(l, first);
    for (size_t k = first; k < end; k++) {
        cluster_pause(l->c);
        l->pivot[k] = find_pivot(l->column[k], k, l->n);
        for (size_t j = first; j < end; j++)
            swap(l->column[j], k, l->pivot[k]);
        divide(l->column[k], k, l->n);
#pragma omp parallel for
        for (size_t j = k + 1; j < end; j++)
            eliminate(l->column[j], l->column[k], k, l->n);
    }
}

/* All of the rank's columns after the panel, which it reads at once. */
static void update(const lu_t *l, size_t first)
{
    const size_t n = l->n, end = end_of(l, first);
    must(l->c, ddsm_prefetch(l->c->d, l->column[first],
                             (end - first) * n * sizeof(double), false));
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
        for (size_t k = end_of(l, j / WIDTH * WIDTH); k < l->n; k++)
            if (is_mine(l, j))
                swap(l->column[j], k, l->pivot[k]);
}

static void factor_all(const lu_t *l)
{
    cluster_t *c = l->c;
    for (size_t first = 0; first < l->n; first += WIDTH) {
        if (is_mine(l, first))
            factor(l, first);
        must(c, ddsm_barrier(c->d));
        update(l, first);
    }
    finish(l);
    /* nobody writes new pivots while another one reads these */
    must(c, ddsm_barrier(c->d));
}

/* As in a textbook: by one thread, column by column, in its own memory. */
static void factor_alone(double **column, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const size_t pivot = find_pivot(column[k], k, n);
        for (size_t j = 0; j < n; j++)
            swap(column[j], k, pivot);
        divide(column[k], k, n);
        for (size_t j = k + 1; j < n; j++)
            eliminate(column[j], column[k], k, n);
    }
}

static bool check(const lu_t *l)
{
    cluster_t *c = l->c;
    const size_t n = l->n;
    double *matrix = cluster_private(c, n * n, sizeof(double));
    double **column = cluster_private(c, n, sizeof *column);
    bool same = true;
    for (size_t j = 0; j < n; j++) {
        column[j] = matrix + j * n;
        fill(column[j], j, n, c->ask.seed);
    }
    const double start = cluster_seconds();
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        for (size_t j = 0; j < n && t; j++)
            stir(column[j], n);
        factor_alone(column, n);
    }
    c->alone = cluster_seconds() - start;
    for (size_t j = 0; j < n && same; j++)
        same = cluster_same(c, "element of a column", l->column[j], column[j],
                            n, sizeof(double));
    free(column);
    free(matrix);
    return same;
}

/* ------------------------------------------------------------------------- */

static void alloc(lu_t *l)
{
    ddsm_place_t place = {.element = sizeof(double), .homes = DDSM_ONE};
    for (size_t first = 0; first < l->n; first += WIDTH) {
        const size_t width = end_of(l, first) - first;
        place.rank = (unsigned)(first / WIDTH % l->c->ranks);
        double *panel =
            cluster_alloc(l->c, width * l->n * sizeof(double), &place);
        for (size_t j = 0; j < width; j++)
            l->column[first + j] = panel + j * l->n;
    }
    place.homes = DDSM_BLOCK;
    l->pivot = cluster_alloc(l->c, l->n * sizeof *l->pivot, &place);
}

static bool run(cluster_t *c)
{
    const size_t n = c->ask.size;
    lu_t l = {.c = c, .n = n};
    cluster_open(c, (n + 1) * n * sizeof(double), n / WIDTH + 2);
    l.column = cluster_private(c, n, sizeof *l.column);
    alloc(&l);
    for (size_t j = 0; j < n; j++)
        if (is_mine(&l, j))
            fill(l.column[j], j, n, c->ask.seed);
    cluster_start(c);
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        for (size_t j = 0; j < n && t; j++)
            if (is_mine(&l, j))
                stir(l.column[j], n);
        factor_all(&l);
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
        .about = "LU factorization with partial pivoting of a matrix in "
                 "shared memory.",
        .size_is = "rows and columns",
        .size = 768,
        .least = 1,
        .most = 32768,
        .iterations = 1,
        .run = run,
    };
    return cluster_main(&lu, argc, argv);
}
