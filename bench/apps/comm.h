/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication of an application, with the time that it takes. */
#ifndef BENCH_APPS_COMM_H
#define BENCH_APPS_COMM_H

#include "bench/coll/bed.h"

/** Payloads below are short: Qian and Afsahi 2008, 7.4.1, counts those of
 * N-BODY so. */
#define APP_SHORT_BYTES 64

/** Of one rank, in one run. */
typedef struct app_times {
    uint64_t total_ns;
    uint64_t allgather_ns, exchange_ns; /**< the rest is computation */
    uint64_t allgathers;
    uint64_t allgathers_short; /**< of less than APP_SHORT_BYTES */
    uint64_t longest;          /**< bytes of a block */
    uint64_t sent;             /**< bytes of messages between two ranks */
    uint64_t messages;
} app_times_t;

typedef struct app_comm {
    drail_job_t *job;
    coll_bed_t *bed;
    const char *algorithm; /**< of all-gathers */
    unsigned rank, ranks;
    double rate; /**< operations per second, where time is simulated */
    app_times_t times;
} app_comm_t;

/** All ranks: a block of each, in @p all until the next call.
 *  @return 0 or an error of the team. */
int app_allgather(app_comm_t *comm, const void *mine, size_t bytes,
                  const void **all);

/** The rank to exchange with in @p round of `ranks` rounds; in one of them it
 * is the rank itself. */
unsigned app_partner(const app_comm_t *comm, unsigned round);

/** Sends to the partner of a round, and receives from it. With itself: copies.
 *  @return 0 or an error of the transport. */
int app_exchange(app_comm_t *comm, unsigned partner, const void *out,
                 size_t bytes, void *in, size_t capacity, size_t *received);

/** So much has been computed: time for it passes where it is simulated. */
void app_compute(const app_comm_t *comm, double operations);

#endif
