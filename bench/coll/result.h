/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that one run of a collective has measured. Rank 0 writes it, in
 * memory that it shares with the process that forked it, which reports.
 */
#ifndef BENCH_COLL_RESULT_H
#define BENCH_COLL_RESULT_H

#include "plan.h"
#include "bench/pair/session.h"
#include "bench/report/report.h"
#include "bench/pair/result.h"
#include "bench/stats/hist.h"
#include "bench/stats/stats.h"
#include "bench/test.h"

#define COLL_REPEATS_MAX STATS_MAX

/** One repetition: many collectives back to back. */
typedef struct coll_repeat {
    uint64_t iterations;
    uint64_t max_ns, avg_ns; /**< over the ranks, of all iterations */
} coll_repeat_t;

/** Where the time goes, as the library tells it: mean over the ranks, of one
 *  call; what is left is communication, and waiting. */
typedef struct coll_parts {
    double all_us, distribute_us, collect_us, deliver_us;
} coll_parts_t;

/** Times of single calls, in nanoseconds; 0: not known. */
typedef struct coll_tail {
    uint64_t p50, p99, p999, max;
} coll_tail_t;

/** Single calls after a common start. */
typedef struct coll_singles {
    double us[COLL_REPEATS_MAX]; /**< median of each repetition */
    unsigned count;
    unsigned calls;           /**< that count, of all repetitions */
    unsigned late, kept_late; /**< calls: done again; counted all the same */
    uint64_t p99;             /**< of all of them, in nanoseconds */
} coll_singles_t;

/** What --overlap tells: of a call by itself; and of one with computation
 *  between its start and its wait, which the computation is a part of. */
typedef enum overlap_figure {
    OVERLAP_PURE, /**< microseconds */
    OVERLAP_COMPUTE,
    OVERLAP_TOTAL,
    OVERLAP_PERCENT, /**< of the pure time, that was hidden */
    OVERLAP_FIGURES
} overlap_figure_t;
#define OVERLAP_NAMES "pure_us", "compute_us", "total_us", "overlap_pct"

/** Of each repetition: medians over its calls, means over the ranks. */
typedef struct coll_overlap {
    double values[OVERLAP_FIGURES][COLL_REPEATS_MAX];
    unsigned count;
    unsigned calls; /**< of each kind, of all repetitions */
} coll_overlap_t;

/** A repetition more, in microseconds: the percentage follows. */
void coll_overlap_add(coll_overlap_t *overlap, double pure, double compute,
                      double total);

/** One block size in one setup. */
typedef struct coll_cell {
    uint64_t bytes;     /**< with counts: of so many elements */
    uint64_t received;  /**< bytes, by a rank from others; of several that
                             receive differently, the mean */
    double bus;         /**< bytes of which the bus bandwidth is; 0: none */
    uint64_t messages;  /**< test rate: of all pairs; 0: of another test */
    uint64_t elements;  /**< with counts: M_max of Liu et al. 2002 */
    uint64_t total;     /**< ... bytes that all send, to themselves, too */
    uint64_t longest;   /**< ... bytes of the longest message */
    uint64_t most;      /**< ... that one rank sends, or receives: L_max */
    coll_parts_t parts; /**< ... */
    unsigned setup;
    const dcoll_algorithm_t *algorithm; /**< that serves it; NULL: with counts,
                                             of auto, not known yet */
    dcoll_args_t args;
    double model_us; /**< prediction of the cost model, NaN: none */
    unsigned count;
    unsigned invalid;   /**< repetitions that started late: done again */
    unsigned kept_late; /**< of count: late at the last try, too */
    coll_tail_t tail;   /**< of the rank that has the highest, each */
    validity_t validity;
    coll_repeat_t repeats[COLL_REPEATS_MAX];
    coll_singles_t each;
    coll_overlap_t overlap;
} coll_cell_t;

typedef struct coll_result {
    const bench_test_t *test;
    const options_t *opts;
    const coll_plan_t *plan;
    machine_t machine;
    drail_rail_info_t rails[DRAIL_MAX_RAILS];
    notes_t notes;
    crowd_t crowd;
    traffic_t traffic; /**< of all ranks; of a partial result, of rank 0 */
    dcoll_cost_model_t model; /**< microseconds */
    start_mode_t start;       /**< not START_AUTO */
    uint64_t seed;            /**< of validated contents, 0: not validated */
    double seconds;           /**< that measuring took */
    hist_t *each; /**< of each cell: single calls, in nanoseconds; NULL: not
                       wanted */
    bool partial; /**< ended before all was measured */
    unsigned complete; /**< sizes of which it was */
    unsigned ncells;
    coll_cell_t cells[]; /**< size by size, in each setup by setup; behind
                              them coll_pinning() */
} coll_result_t;

/** Before the ranks are forked. NULL: out of memory. */
coll_result_t *coll_result_create(const bench_test_t *test,
                                  const coll_plan_t *plan);
void coll_result_destroy(coll_result_t *result);
/** Where each rank runs. */
pinning_t *coll_pinning(const coll_result_t *result);

/** Is no cell invalid? If any is: one line on stderr. */
bool coll_all_valid(const coll_result_t *result);

/** What is reported of a cell. Bandwidth: what each rank has received from
 *  others. NaN: not measured or without meaning. */
typedef struct coll_figures {
    summary_t us;     /**< the slowest rank */
    summary_t avg_us; /**< mean over the ranks */
    summary_t MBps;
    double rate_Mmsgs; /**< of the messages, 10^6 a second, by the median */
    double busbw_MBps; /**< as nccl-tests defines it, by the median */
    double p50, p99, p999, max; /**< microseconds, over single calls; of
                                     the rank that has the highest, each */
    summary_t each_us; /**< single calls after a common start, until the last
                            rank has returned: medians of the repetitions */
    double each_p99;   /**< ... over these calls */
    summary_t overlap[OVERLAP_FIGURES];
    uint64_t iterations;
} coll_figures_t;

coll_figures_t coll_figures(const options_t *opts, const coll_cell_t *cell);
/** Of the slowest rank, in microseconds. Of what is simulated, the range in
 *  place of an interval. */
summary_t coll_latency(const options_t *opts, const coll_cell_t *cell);

/** The cell's configuration. */
const coll_setup_t *coll_setup_of(const coll_result_t *result,
                                  const coll_cell_t *cell);
/** Ports that its messages can use: engine single has one rail. */
unsigned coll_ports_of(const coll_result_t *result, const coll_cell_t *cell);
/** Single calls of it; NULL: none are kept. */
hist_t *coll_each_of(const coll_result_t *result, const coll_cell_t *cell);

/** CSV of the histograms of single calls. */
void coll_histogram(FILE *file, const report_t *report);
/** Writes a coll_result_t. Errors of writing stay in the FILE.
 *  @return 0. */
int coll_report(FILE *file, format_t format, const void *result);

#endif
