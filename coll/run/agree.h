/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_AGREE_H
#define DCOLL_AGREE_H

#include "coll/run/prepare.h"

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

/* Collective, after request_prepare(), whose result is `failed`. all: room for
 * what the ranks say. */
int request_agree(dcoll_request_t *q, int failed, const struct needs *needs,
                  const struct segment_card *card, struct opening *all);

#endif
