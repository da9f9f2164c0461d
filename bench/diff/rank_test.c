/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "rank_test.h"
#include "bench/stats/stats.h"

#define EXACT_MAX 20

/*
 * Number of orders of nx + ny distinct values that have U = u, for all u: the
 * coefficients of the product over i = 1 … ny of
 * (1 - q^(nx + i)) / (1 - q^i). All are whole numbers below 2^53.
 */
static double exact_p(unsigned nx, unsigned ny, double u)
{
    double ways[EXACT_MAX * EXACT_MAX + 1] = {1};
    unsigned top = nx * ny;
    double tail = 0, all = 0, edge = fmin(u, top - u);

    for (unsigned i = 1; i <= ny; i++) {
        for (unsigned k = top; k >= nx + i && k <= top; k--)
            ways[k] -= ways[k - nx - i];
        for (unsigned k = i; k <= top; k++)
            ways[k] += ways[k - i];
    }
    for (unsigned k = 0; k <= top; k++) {
        all += ways[k];
        if (k <= edge)
            tail += ways[k];
    }
    return fmin(1, 2 * tail / all);
}

/* @p ties is the sum of t^3 - t over groups of t equal values. */
static double normal_p(unsigned nx, unsigned ny, double u, double ties)
{
    double n = (double)nx + ny, pairs = (double)nx * ny;
    double variance = pairs / 12 * (n + 1 - ties / (n * (n - 1)));
    double distance = fabs(u - pairs / 2) - 0.5;
    if (variance <= 0 || distance <= 0)
        return 1;
    return erfc(distance / sqrt(2 * variance));
}

/* Values of sorted @p x from *at that equal @p value; *at moves past them. */
static unsigned take(const double *x, unsigned n, unsigned *at, double value)
{
    unsigned first = *at;
    while (*at < n && x[*at] == value)
        ++*at;
    return *at - first;
}

/* The least p that so few values can have: of both orders that part them. */
static double least_p(unsigned nx, unsigned ny)
{
    double p = 2;
    for (unsigned i = 1; i <= ny; i++)
        p *= (double)i / (nx + i);
    return fmin(1, p);
}

rank_test_t rank_test(double *x, unsigned nx, double *y, unsigned ny)
{
    rank_test_t test = {.p = 1};
    double ties = 0;
    if (!nx || !ny)
        return test;
    stats_sort(x, nx);
    stats_sort(y, ny);
    for (unsigned i = 0, j = 0; i < nx || j < ny;) {
        double value = j == ny || (i < nx && x[i] <= y[j]) ? x[i] : y[j];
        double before = i;
        double a = take(x, nx, &i, value), b = take(y, ny, &j, value);
        test.u += b * (before + a / 2);
        ties += (a + b) * (a + b) * (a + b) - (a + b);
    }
    test.delta = 2 * test.u / ((double)nx * ny) - 1;
    test.p = ties == 0 && nx <= EXACT_MAX && ny <= EXACT_MAX
                 ? exact_p(nx, ny, test.u)
                 : fmax(normal_p(nx, ny, test.u, ties), least_p(nx, ny));
    return test;
}

static int by_p(const void *a, const void *b)
{
    double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

int false_discovery(double *p, unsigned n)
{
    double **sorted = calloc(n ? n : 1, sizeof *sorted), least = 1;
    if (!sorted)
        return -1;
    for (unsigned i = 0; i < n; i++)
        sorted[i] = &p[i];
    qsort(sorted, n, sizeof *sorted, by_p);
    for (unsigned i = n; i > 0; i--)
        *sorted[i - 1] = least = fmin(least, *sorted[i - 1] * n / i);
    free(sorted);
    return 0;
}
