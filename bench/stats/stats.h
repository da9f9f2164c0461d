/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of repeated measurements, without the assumption of a normal
 * distribution: the median and its confidence interval by order statistics
 * (as recommended by T. Hoefler, R. Belli, "Scientific benchmarking of
 * parallel computing systems", SC'15).
 */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stdbool.h>

/** Most values that one summary takes. */
#define STATS_MAX 1000
/** Probability of an interval. */
#define STATS_COVERAGE 0.95
/** Values that differ by no more than this part of their median are alike. */
#define STATS_ALIKE 1e-3

typedef struct summary {
    unsigned n;
    double median;
    double lo, hi;   /**< confidence interval of the median, or a range */
    double coverage; /**< its probability: ≥ 0.95, less when n < 6; NaN: it is
                          a range of what has none */
    double mean, min, max;
    unsigned outliers; /**< values beyond Tukey's fences; they are counted
                            and stay in every other figure */
} summary_t;

/** Ascending, in place. */
void stats_sort(double *values, unsigned n);

/** Quantile 0 … 1 of n > 0 sorted values, with linear interpolation. */
double stats_quantile(const double *sorted, unsigned n, double q);

/** Sorts @p values in place. n 0 gives NaN everywhere; n ≤ STATS_MAX. */
summary_t stats_summary(double *values, unsigned n);
/** ... with an interval that has at least this probability. */
summary_t stats_summary_within(double *values, unsigned n, double coverage);

/**
 * Ranks of the order statistics that hold the median with a probability of at
 * least @p coverage: the narrowest symmetric pair (*lo, n - 1 - *lo), counted
 * from 0; the whole range when n is too small. @return the pair's probability.
 */
double stats_median_interval(unsigned n, double coverage, unsigned *lo);

/** Are all values alike? */
bool stats_alike(const summary_t *summary);

/** Of what is the same in every run: no interval, but the range of values … */
summary_t stats_range(summary_t summary);

/** … that are not alike. */
summary_t stats_certain(summary_t summary);

/** Half width of the confidence interval relative to the median; infinite
 *  while there are too few values for an interval of 95 %. */
double stats_precision(const summary_t *summary);

#endif
