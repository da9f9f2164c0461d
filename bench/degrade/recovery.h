/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of an event, computed from the bytes of each millisecond. */
#ifndef BENCH_DEGRADE_RECOVERY_H
#define BENCH_DEGRADE_RECOVERY_H

#include "events.h"
#include "stream.h"

/** What part of the possible rate counts as all of it. */
#define RECOVERED 0.95

/** What can be had of the rails, in MB/s. */
typedef struct capacity {
    double rail[DRAIL_MAX_RAILS]; /**< each alone */
    double all;
    unsigned nrails;
} capacity_t;

typedef struct recovery {
    double before;   /**< MB/s, in the half second before */
    double dip;      /**< MB/s of the lowest interval until the rate is there */
    double possible; /**< MB/s of what is left: the rails that are up, together,
                          at most what all have reached */
    double after;    /**< MB/s, from when it was there again */
    double seen_ms;  /**< from the event until rank 0's transport had left the
                          rail, or used it again; NaN: it has not */
    double stall_ms; /**< the longest time without any message till then */
    double ms;       /**< from the event, until an interval behind the stall has
                          RECOVERED of what is possible; NaN: not before the
                          next event, or the end */
} recovery_t;

/** MB/s from millisecond @p from to before @p to; NaN where that is none. */
double bins_rate(const bins_t *bins, unsigned from, unsigned to);
/** The best of what was measured before the stream and of its own rate in the
 *  seconds before the first event. */
void capacity_raise(capacity_t *capacity, const bins_t *bins,
                    const events_t *events);
/**
 * Event @p index of those that were carried out.
 * @param interval_ms over which rates are taken, longer where messages are long
 * @param message bytes: an interval holds 20 at least, and may miss one, as
 * they come whole
 */
recovery_t recovery_of(const bins_t *bins, const events_t *events,
                       unsigned index, const capacity_t *capacity,
                       unsigned interval_ms, size_t message);

#endif
