/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of the rails: what they have carried for all ranks since they were
 * opened, and their failures.
 */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include <stdio.h>

#include "dapl_rail/dapl_rail.h"
#include "json.h"

typedef struct traffic {
    unsigned nrails;
    unsigned ranks; /**< whose statistics these are; 0: none are known */
    char name[DRAIL_MAX_RAILS][DRAIL_NAME_MAX];
    /** Sums, but the worst state and the longest times. A lost link is in the
     *  sum of failures of two ranks; reports have it once. */
    drail_rail_stats_t rail[DRAIL_MAX_RAILS];
} traffic_t;

/** Adds those of one of this rank's transports. */
void traffic_add(traffic_t *traffic, const drail_t *rail);
/** All ranks: adds up what each has. @return 0 or an error. */
int traffic_gather(traffic_t *traffic, drail_job_t *job);

/** A line for each rail, if something has happened to one, or @p always. */
void traffic_table(FILE *file, const traffic_t *traffic, bool always);
/** What failures have cost: members of the rail's object. */
void traffic_json_failures(json_t *json, const drail_rail_stats_t *stats,
                           uint64_t failures);
void traffic_json(json_t *json, const traffic_t *traffic);

#endif
