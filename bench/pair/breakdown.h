/* SPDX-License-Identifier: BSD-3-Clause */
/* The elapsed time of batches in parts (Cai et al. 2009, section 5.5). */
#ifndef BENCH_BREAKDOWN_H
#define BENCH_BREAKDOWN_H

#include "dapl_rail/batch.h"

typedef struct breakdown {
    uint64_t post_ns; /**< in posting the RDMA writes and the send */
    uint64_t wait_ns; /**< from then on until all awaited events were there */
} breakdown_t;

/**
 * The parts as the caller of drail_batch spends them. Several rails with data
 * in engine threaded work side by side: the slowest rail is what the caller
 * waits for, and its parts are taken. In all other cases one thread posts on
 * one rail after the other, so that posting adds up; waiting begins when the
 * last rail has posted, and ends with the last event.
 */
breakdown_t breakdown_of(drail_engine_t engine, const drail_rail_time_t *rails,
                         unsigned nrails);

#endif
