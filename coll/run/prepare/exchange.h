/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_AGREE_H
#define DCOLL_AGREE_H

#include "coll/run/prepare/local.h"

/* What each rank says first. */
struct opening {
    struct call call;
    uint64_t id;
    uint64_t mode;   /* what else must be equal, from tables and settings */
    uint64_t remote; /* puts or notifications in my schedule */
    int64_t error;   /* of preparing my part */
    struct weight weight;
    struct segment_card node;
};

/* Where request_agree all-gathers, that it can't fail before the others have
 * heard of it. */
struct agree_room {
    drail_gathered_t *openings, *targets;
};

/* 0 or DRAIL_ENOMEM; in both cases it is to be freed. */
int agree_room_new(drail_job_t *job, struct agree_room *room);
void agree_room_free(struct agree_room *room);

/* Collective, after request_prepare(), whose result is `failed`. known: one has
 * failed, and all return that error. */
int request_agree(dcoll_request_t *q, int failed, const struct needs *needs,
                  const struct segment_card *card, struct agree_room *room,
                  bool *known);

#endif
