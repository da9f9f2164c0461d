/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_AGREE_H
#define DCOLL_AGREE_H

#include "coll/run/prepare/local.h"

/* What each rank says first. */
struct proposal {
    struct call call;
    uint64_t id;
    uint64_t mode;   /* what else must be equal, from tables and settings */
    uint64_t remote; /* puts or notifications in my schedule */
    int64_t error;   /* of preparing my part */
    struct footprint footprint;
    struct segment_locator node;
};

/* Where prepare_exchange all-gathers, that it can't fail before the others have
 * heard of it. */
struct request_gather {
    drail_gathered_t *proposals, *targets;
};

/* 0 or DRAIL_ENOMEM; in both cases it is to be freed. */
int request_gather_new(drail_job_t *job, struct request_gather *room);
void request_gather_free(struct request_gather *room);

/* Collective, after prepare_local(), whose result is `failed`. known: one has
 * failed, and all return that error. */
int prepare_exchange(dcoll_request_t *q, int failed, const struct needs *needs,
                     const struct segment_locator *card,
                     struct request_gather *room, bool *known);

#endif
