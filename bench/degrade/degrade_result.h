/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that `railbench degrade` has measured. */
#ifndef BENCH_DEGRADE_RESULT_H
#define BENCH_DEGRADE_RESULT_H

#include "bench/pair/result.h"
#include "recovery.h"

/** A stream of messages of one size in one setup, with all events. */
typedef struct degrade_run {
    size_t bytes;
    const setup_t *setup;
    capacity_t capacity;
    events_t events; /**< those that were carried out */
    tally_t rank[2];
    bins_t bins;
    unsigned planned, done; /**< events, or cuts where they are drawn */
} degrade_run_t;

typedef struct degrade_result {
    const options_t *opts;
    plan_t plan;
    machine_t machine;
    drail_rail_info_t rails[DRAIL_MAX_RAILS];
    size_t threshold;
    notes_t notes;
    bool partial;
    degrade_run_t *runs;
    unsigned nruns; /**< that have begun */
} degrade_result_t;

/** Messages that came again, were left out, or came with other bytes. After an
 *  error, those that were not acknowledged may or may not have come. */
typedef struct damage {
    uint64_t duplicates, losses, wrong;
} damage_t;
damage_t degrade_damage(const degrade_run_t *run);
/** MB/s of the whole run. */
double degrade_rate(const degrade_run_t *run);
/** Sends of DTOs again, by both ranks. */
uint64_t degrade_retries(const degrade_run_t *run, unsigned nrails);
/** A rail's: bytes and messages of the sender; failures once, though both ranks
 *  count them; what was sent again or carried by both; times of the rank where
 *  they were longest. */
drail_rail_stats_t degrade_rail(const degrade_run_t *run, unsigned rail);
/** Does one rail alone carry about as much as all? Then rates show no cut. */
bool degrade_shows_nothing(const degrade_run_t *run);

/** Writes a degrade_result_t in one of the formats of report.h.
 *  @return 0. */
int degrade_report(FILE *file, format_t format, const void *result);

#endif
