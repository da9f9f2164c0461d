/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jacobi's iteration on a square grid: in each sweep each inner point becomes
 * the mean of its four neighbours. Each rank is the home of a block of rows; of
 * other ranks it reads the row above its block and the row below.
 *
 * cc -fopenmp jacobi.c cluster.c options.c $(pkg-config --cflags --libs ddsm)
 */
#include <math.h>
#include <stdlib.h>

#include "cluster.h"

typedef struct jacobi {
    cluster_t *c;
    size_t n;          /* points of a row, and rows */
    double *from, *to; /* the grid before and after a sweep */
    double change;     /* the largest of this rank's points in the last sweep */
} jacobi_t;

static void fill_row(double *row, size_t i, size_t n, uint64_t seed)
{
    for (size_t k = 0; k < n; k++)
        row[k] = cluster_uniform(seed, i * n + k);
}

/* One row of a sweep. @return the largest change. */
static double relax_row(const double *from, double *to, size_t i, size_t n)
{
    const double *row = from + i * n;
    double most = 0;
    for (size_t k = 1; k < n - 1; k++) {
        const double value =
            0.25 * (row[k - n] + row[k + n] + row[k - 1] + row[k + 1]);
        most = fmax(most, fabs(value - row[k]));
        to[i * n + k] = value;
    }
    return most;
}

/* Fills both grids: a sweep does not write the border. */
static void fill(size_t first, size_t last, void *context)
{
    const jacobi_t *j = context;
    const size_t n = j->n;
#pragma omp parallel for
    for (size_t i = first; i < last; i++) {
        fill_row(j->from + i * n, i, n, j->c->ask.seed);
        fill_row(j->to + i * n, i, n, j->c->ask.seed);
    }
}

static void sweep(size_t first, size_t last, void *context)
{
    jacobi_t *j = context;
    const size_t n = j->n, row = n * sizeof(double);
    double most = 0;

    first = first ? first : 1;
    last = last < n ? last : n - 1;
    if (first >= last)
        return;
    /* fetch what the sweep uses at once, not fault by fault */
    cluster_prefetch(j->c, j->from + (first - 1) * n, (last - first + 2) * row,
                     false);
    cluster_prefetch(j->c, j->to + first * n, (last - first) * row, true);
#pragma omp parallel for reduction(max : most)
    for (size_t i = first; i < last; i++) {
        cluster_pause(j->c);
        most = fmax(most, relax_row(j->from, j->to, i, n));
    }
    j->change = most;
}

static void swap(jacobi_t *j)
{
    double *from = j->from;
    j->from = j->to;
    j->to = from;
}

/* The same by one thread, in private memory. */
static bool check(const jacobi_t *j)
{
    cluster_t *c = j->c;
    const size_t n = j->n;
    jacobi_t own = {.n = n,
                    .from = cluster_private(c, n * n, sizeof(double)),
                    .to = cluster_private(c, n * n, sizeof(double))};
    for (size_t i = 0; i < n; i++) {
        fill_row(own.from + i * n, i, n, c->ask.seed);
        fill_row(own.to + i * n, i, n, c->ask.seed);
    }
    const double start = cluster_seconds();
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        own.change = 0;
        for (size_t i = 1; i < n - 1; i++)
            own.change = fmax(own.change, relax_row(own.from, own.to, i, n));
        swap(&own);
    }
    c->alone = cluster_seconds() - start;
    cluster_prefetch(c, j->from, n * n * sizeof(double), false);
    const bool same =
        cluster_same(c, "point", j->from, own.from, n * n, sizeof(double)) &&
        cluster_same(c, "change", &j->change, &own.change, 1, sizeof(double));
    free(own.from);
    free(own.to);
    return same;
}

static bool run(cluster_t *c)
{
    const size_t n = c->ask.size, bytes = n * n * sizeof(double);
    /* one rank writes each double, and is its home */
    const ddsm_place_t place = {.element = sizeof(double), .homes = DDSM_BLOCK};
    ddsm_t *d = cluster_open(c, 2 * bytes, 2);
    jacobi_t j = {.c = c, .n = n};
    j.from = cluster_alloc(c, bytes, &place);
    j.to = cluster_alloc(c, bytes, &place);
    must(c, ddsm_for(d, 0, n, fill, &j));
    cluster_start(c);
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        must(c, ddsm_for(d, 0, n, sweep, &j)); /* ends with a barrier */
        swap(&j);
    }
    must(c, ddsm_reduce(d, &j.change, 1, DDSM_DOUBLE, DDSM_MAX));
    cluster_stop(c);
    return c->rank || check(&j);
}

int main(int argc, char **argv)
{
    static const program_t jacobi = {
        .name = "jacobi",
        .about = "Jacobi's iteration on a square of shared memory.",
        .size_is = "points of a side",
        .size = 1024,
        .least = 3,
        .most = 65536,
        .iterations = 100,
        .run = run,
    };
    return cluster_main(&jacobi, argc, argv);
}
