/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that one run has measured, and the figures made of it. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include "breakdown.h"
#include "bench/stats/hist.h"
#include "bench/report/machine.h"
#include "bench/report/notes.h"
#include "bench/report/traffic.h"
#include "bench/options/plan.h"
#include "session.h"
#include "bench/stats/stats.h"
#include "bench/test.h"

/** One repeat: many iterations measured as a whole. */
typedef struct repeat {
    uint64_t iterations, ns, bytes;
    uint64_t cpu_ns[2]; /**< of rank 0 and rank 1 */
    uint64_t median_ns; /**< of its iterations */
    breakdown_t parts;  /**< of ns, if the test breaks it down */
} repeat_t;

/** All repeats of one loop in one cell. */
typedef struct series {
    uint64_t iterations; /**< per repeat */
    uint64_t warmup;     /**< iterations that were dropped before */
    uint64_t batch_ns;   /**< that an iteration takes, 0: not known */
    repeat_t *repeats;
    unsigned count;
    hist_t *samples; /**< time of every iteration of all repeats */
} series_t;

/** What bounds a cell. */
typedef enum limit_kind {
    LIMIT_NONE, /**< not known */
    LIMIT_COPY, /**< copies by this machine */
    LIMIT_LINK, /**< rate of the links, as the rails tell it */
    LIMIT_LINE, /**< transfer of a cache line between the ranks' cores */
    LIMIT_KINDS
} limit_kind_t;

typedef struct limit {
    limit_kind_t kind;
    summary_t figure; /**< MB/s; LIMIT_LINE: microseconds; NaN: not measured;
                           LIMIT_LINK: a median only */
} limit_t;

/** Of a cell that has none. */
limit_t limit_unknown(void);

typedef enum validity { NOT_VALIDATED, VALID, INVALID } validity_t;

/** One message size in one setup. */
typedef struct cell {
    uint64_t bytes;
    unsigned setup;
    series_t series[TEST_LOOPS];
    drail_rail_time_t per_rail[DRAIL_MAX_RAILS]; /**< of extra batches */
    uint64_t accounted;                          /**< number of those batches */
    validity_t validity;
    limit_t limit;
} cell_t;

typedef struct result {
    const bench_test_t *test;
    const options_t *opts;
    const plan_t *plan;
    machine_t machine;
    drail_rail_info_t rails[DRAIL_MAX_RAILS];
    size_t threshold; /**< in use */
    pinning_t pinning[2];
    uint64_t seed;  /**< of validated contents, 0: not validated */
    double seconds; /**< that measuring took */
    bool partial;   /**< ended before all was measured */
    notes_t notes;
    traffic_t traffic; /**< of both ranks; of a partial result, of rank 0 */
    cell_t *cells;     /**< size by size, in each setup by setup */
    unsigned ncells;
} result_t;

/** Most repeats per cell. */
unsigned result_max_repeats(const options_t *opts);
/** Makes the cells. @return 0 or DRAIL_ENOMEM. */
int result_allocate(result_t *result);
void result_free(result_t *result);

/** Figures of one loop, in microseconds per message. */
typedef struct latency {
    summary_t us;               /**< over repeats */
    double p50, p99, p999, max; /**< over single iterations */
} latency_t;

/** What is reported of a cell. NaN: not measured or without meaning. */
typedef struct figures {
    latency_t latency[TEST_LOOPS];
    summary_t bandwidth;       /**< MB/s of the first loop */
    double cpu_ns_per_byte[2]; /**< of rank 0 (initiator) and rank 1 */
    double imbalance;  /**< longest time of a rail over the mean, minus 1 */
    double efficiency; /**< bandwidth over the sum of the single rails' */
    double limit_pct;  /**< what part of the limit is reached, in percent */
    /** Microseconds per batch, and what is left of them after posting and
     *  waiting: calls, starting and ending the threads' work. */
    summary_t batch, post, wait, other;
} figures_t;

/** Least and most warm-up of the cells that were measured. */
void result_warmup(const result_t *result, uint64_t *least, uint64_t *most);
/** A cell that has at least one repeat of each loop. */
bool cell_measured(const result_t *result, const cell_t *cell);
figures_t result_figures(const result_t *result, const cell_t *cell);
/** Values of all repeats: microseconds per message. */
summary_t series_latency(const result_t *result, const series_t *series,
                         const loop_t *loop);
/** Does this rail copy within the memory of one host? */
bool rail_in_memory(const drail_rail_info_t *info);
/** Does a link model decide when rails of this fabric deliver? */
bool fabric_modelled(const char *fabric);
/** Fabrics of the rails that a setup uses, joined by '+'. */
void rails_fabric(const drail_rail_info_t *rails, unsigned count,
                  const setup_t *setup, char *text, size_t size);

#endif
