/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a request that ranks prepare together, in two all-gathers: they
 * compare their calls and results (proposals); then they attach to the node
 * memory, exchange the keys of their memory (targets), and connect.
 */
#ifndef DCOLL_EXCHANGE_H
#define DCOLL_EXCHANGE_H

#include "coll/run/prepare/local.h"

/* The first message of each rank. */
struct proposal {
    struct call call;
    uint64_t id;
    uint64_t mode;   /* settings that must be equal on all ranks */
    uint64_t ports;  /* a hash of all ranks' numbers of ports: equal, too */
    uint64_t remote; /* my schedule needs the second all-gather */
    int64_t error;   /* of preparing my part */
    struct footprint footprint;
    struct segment_locator node;
};

/* Memory for both all-gathers, allocated in advance: a rank without memory must
 * still be able to tell the others. */
struct request_gather {
    drail_gathered_t *proposals, *targets;
};

/* 0 or DRAIL_ENOMEM; request_gather_free() in either case. */
int request_gather_new(drail_job_t *job, struct request_gather *gather);
void request_gather_free(struct request_gather *gather);

/* All ranks call it after prepare_local(), whose result is `failed`. 0, or an
 * error of the team. known: all ranks return this error, so the team need not
 * break. */
int prepare_exchange(dcoll_request_t *q, int failed, const struct needs *needs,
                     const struct segment_locator *locator,
                     struct request_gather *gather, bool *known);

#endif
