/* SPDX-License-Identifier: BSD-3-Clause */
/* When a measurement has been repeated often enough. */
#ifndef BENCH_STOPPING_H
#define BENCH_STOPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "stats.h"

/** Most repetitions: enough for any useful precision. */
#define STOPPING_MOST 200u

typedef struct stopping {
    uint64_t repeat;   /**< so many, 0: by precision and time */
    bool certain;      /**< each figure is the same in every run: until it
                            is in every repeat, or does not become so */
    double precision;  /**< wanted half width of the CI over the median */
    uint64_t until_ns; /**< no more from then on, on the monotonic clock */
} stopping_t;

/** Of @p figures that are measured in turn, after @p repeats of each. @p figure
 *  gives the i-th of what @p measured has. */
bool stopping_enough(const stopping_t *rule, unsigned repeats, unsigned figures,
                     summary_t (*figure)(const void *measured, unsigned i),
                     const void *measured);

#endif
