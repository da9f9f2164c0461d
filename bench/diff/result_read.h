/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the JSON of bw, bibw, lat, breakdown and the tests of collectives. */
#ifndef BENCH_RESULT_READ_H
#define BENCH_RESULT_READ_H

#include <stdint.h>

#include "bench/stats/sampling.h"
#include "json_read.h"

/** Most series of one file: of all sizes, configurations and loops. */
#define RECORD_SERIES_MAX 16384

/** One loop of one message size in one configuration. Texts belong to the
 *  record. */
typedef struct record_series {
    const char *loop, *rails, *engine, *policy;
    const char *team, *algorithm; /**< "": none */
    const char *variant;          /**< of setup_variant; "": usual */
    const char *fabric;           /**< of the rails; "": not told */
    uint64_t bytes;
    double *us;   /**< per repeat: microseconds per message */
    double *MBps; /**< per repeat */
    unsigned count;
} record_series_t;

typedef struct record {
    const char *path;
    const char *test;
    json_value_t *json;
    sampling_t sampling; /**< by which its values were taken */
    unsigned launches;   /**< ... one of each, 0: of the repeats of one */
    record_series_t *series;
    unsigned count;
    unsigned dropped; /**< points of which some launch has no value */
} record_t;

/** The point that is measured in the same way, or NULL. */
const record_series_t *record_find(const record_t *record,
                                   const record_series_t *like);

/** Several launches of one test as one record: of each point that all have, a
 *  value per launch, the median of its repeats; the rest is the first one's.
 *  One: as record_load(). */
int record_load_all(record_t *record, const char *const *paths, unsigned count,
                    char *error, unsigned size);

/** @return 0, or -1 with one sentence in @p error; record_free in either
 *  case. @p path must live as long as the record. */
int record_load(record_t *record, const char *path, char *error, unsigned size);
void record_free(record_t *record);

#endif
