/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "stats.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *values, unsigned n)
{
    qsort(values, n, sizeof *values, compare);
}

double stats_quantile(const double *sorted, unsigned n, double q)
{
    double place = q * (n - 1);
    unsigned below = (unsigned)place;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] +
           (place - below) * (sorted[below + 1] - sorted[below]);
}

double stats_median_interval(unsigned n, double coverage, unsigned *lo)
{
    /* The number of values below the median is binomial (n, 1/2): the
     * interval from rank k to n-1-k misses it with 2 P(X <= k). */
    double term = ldexp(1.0, -(int)n), below = term;
    unsigned k = 0;
    while (k + 1 < n) {
        double next = term * (n - k) / (k + 1);
        if (2 * (below + next) > 1 - coverage)
            break;
        term = next;
        below += term;
        k++;
    }
    *lo = k;
    return 1 - 2 * below;
}

static unsigned count_outliers(const double *sorted, unsigned n)
{
    double q1 = stats_quantile(sorted, n, 0.25),
           q3 = stats_quantile(sorted, n, 0.75);
    double fence = 1.5 * (q3 - q1);
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++)
        count += sorted[i] < q1 - fence || sorted[i] > q3 + fence;
    return count;
}

summary_t stats_summary(double *values, unsigned n)
{
    return stats_summary_within(values, n, STATS_COVERAGE);
}

summary_t stats_summary_within(double *values, unsigned n, double coverage)
{
    if (!n)
        return (summary_t){.median = NAN,
                           .lo = NAN,
                           .hi = NAN,
                           .mean = NAN,
                           .min = NAN,
                           .max = NAN};
    stats_sort(values, n);
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += values[i];

    unsigned lo;
    double reached = stats_median_interval(n, coverage, &lo);
    return (summary_t){
        .n = n,
        .median = stats_quantile(values, n, 0.5),
        .lo = values[lo],
        .hi = values[n - 1 - lo],
        .coverage = reached,
        .mean = sum / n,
        .min = values[0],
        .max = values[n - 1],
        .outliers = count_outliers(values, n),
    };
}

bool stats_alike(const summary_t *s)
{
    return !(s->max - s->min > STATS_ALIKE * fabs(s->median));
}

summary_t stats_range(summary_t s)
{
    s.lo = s.min;
    s.hi = s.max;
    s.coverage = NAN;
    return s;
}

summary_t stats_certain(summary_t s)
{
    bool alike = stats_alike(&s);
    s = stats_range(s);
    if (alike)
        s.lo = s.hi = NAN;
    return s;
}

double stats_precision(const summary_t *summary)
{
    if (!summary->n || summary->coverage < STATS_COVERAGE)
        return INFINITY;
    if (summary->lo == summary->hi)
        return 0;
    return (summary->hi - summary->lo) / 2 / fabs(summary->median);
}
