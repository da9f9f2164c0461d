/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: what happens to rails in mid-run, and when (--events). */
#ifndef BENCH_DEGRADE_EVENTS_H
#define BENCH_DEGRADE_EVENTS_H

#include "bench/options/options.h"

typedef enum event_kind {
    EVENT_CUT,  /**< nothing passes any more */
    EVENT_BACK, /**< connecting works again, and all of the rate is there */
    EVENT_SLOW, /**< so much of the rate is left */
    EVENT_KINDS
} event_kind_t;

typedef struct event {
    event_kind_t kind;
    unsigned rail;
    double factor;    /**< EVENT_SLOW: of the rate, above 0 to 1 */
    uint64_t at_ns;   /**< when it is to be, since the start */
    uint64_t was_ns;  /**< when it was begun, or, as a command has said, when it
                           took effect */
    uint64_t seen_ns; /**< when rank 0's transport had left the rail that was
                           cut, or used the one that is back; 0: not (yet) */
} event_t;

/** Most events of a run. */
#define EVENTS_MAX 2048

typedef struct events {
    event_t list[EVENTS_MAX];
    unsigned count; /**< of the list, in order of their times */
    unsigned cuts;  /**< 0: the list; else so many are drawn while it runs */
    uint64_t seed;  /**< of what is drawn */
} events_t;

const char *event_name(event_kind_t kind);

/**
 * Reads "2s:cut:1,4s:back:1,6s:slow:0:0.5" (times in s or ms, rails by name or
 * index), "random:CUTS[:SEED]" or "none". NULL: with several rails a cut, a
 * return and a slower rail, each after another quarter of the time. Random ones
 * are spread over --time.
 * @return 0, or -1 with what is allowed in @p allowed.
 */
int events_parse(events_t *events, const char *text, const options_t *opts,
                 char *allowed, size_t size);

/** A time as in "2s", "250ms", "1.5" (seconds). @return 0 or -1. */
int event_time_parse(const char *text, uint64_t *ns);

#endif
