/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How every test takes its samples: a repeat of each configuration in turn, in
 * another order each round, until they are precise or the time is over.
 *
 * A program that looks at the interval after every repeat, and stops when it is
 * narrow, stops too often when it is narrow by chance: 95 % intervals then
 * cover 83 to 95 % (tests/unit/test_sampling.c). So there are few looks, and an
 * interval at each of them so much wider that the median is within all of them
 * at once with 95 % (group-sequential intervals of one level: S. J. Pocock,
 * Biometrika 64, 1977; that they hold whatever made the sampling stop: C.
 * Jennison, B. W. Turnbull, Statistical Science 4, 1989). How many of n values
 * are below the median is a walk with equal steps whatever the distribution, so
 * the probability is exact.
 */
#ifndef BENCH_SAMPLING_H
#define BENCH_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "stats.h"

/** Most repetitions: enough for any useful precision; the last look. */
#define SAMPLING_MOST 200u
/** Of the interval at a look; of those of all looks together. */
#define SAMPLING_LOOK     0.9866
#define SAMPLING_COVERAGE 0.954

typedef struct sampling {
    uint64_t repeat;  /**< so many, 0: by precision and time */
    bool certain;     /**< each figure is the same in every run: until it is
                           in every repeat, or does not become so */
    double precision; /**< wanted half width of the CI over the median */
    double seconds;   /**< that the whole may take */
    bool strict;      /**< ... and no more, whatever there is by then */
    uint64_t end_ns;  /**< ... on the monotonic clock */
    uint64_t from_ns, until_ns; /**< of the present part */
} sampling_t;

/** What is measured in turn. */
typedef struct sampled {
    unsigned count; /**< configurations */
    /** One repeat of one of them. What isn't 0 ends the sampling. */
    int (*repeat)(void *of, unsigned i);
    unsigned figures; /**< that are to be precise */
    summary_t (*figure)(const void *of, unsigned i);
    /** Tells all ranks what the one that decides has found. May be NULL. */
    int (*agree)(void *of, bool *enough);
    bool follows; /**< ... this one doesn't decide */
    void *of;
} sampled_t;

/** The time starts. */
void sampling_begin(sampling_t *rule);
/** The next part of it: each of those that are left may use as much. */
void sampling_part(sampling_t *rule, unsigned left);

/** Enough after @p repeats of each? */
bool sampling_enough(const sampling_t *rule, unsigned repeats,
                     const sampled_t *sampled);

/** @return 0, or what ended it. */
int sampling_run(const sampling_t *rule, const sampled_t *sampled);

/** Median and interval of values that were taken by this rule. Sorts them;
 *  n ≤ STATS_MAX. */
summary_t sampling_summary(const sampling_t *rule, double *values, unsigned n);

/** The probability @p p that a test gives for a sample taken by this rule:
 * times the number of looks (Bonferroni), as the test sees what made it stop.
 */
double sampling_p(const sampling_t *rule, double p);

/** The next number of repeats after @p repeats at which it may end. */
unsigned sampling_look(unsigned repeats);

/** How many iterations make a repeat, about 10 ms, if so many took @p ns. */
uint64_t sampling_iterations(uint64_t iterations, uint64_t ns);
/** ... if a repeat is to take @p repeat_ns. */
uint64_t sampling_iterations_in(uint64_t iterations, uint64_t ns,
                                double repeat_ns);

#endif
