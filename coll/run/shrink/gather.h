/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The all-gather of a shrunk team: the job's own may need ranks that have died.
 * Each rank puts its contribution, in pieces, into an area of each other rank.
 * The area has two parts: a rank that puts piece i + 2 has got piece i + 1 of
 * each rank, which that rank sent when it had read all pieces i.
 */
#ifndef DCOLL_GATHER_H
#define DCOLL_GATHER_H

#include "coll/run/shrink/shrunk.h"

/* Bytes of an area for so many ranks. */
size_t gather_area_bytes(unsigned ranks);
/* A drail_allgather_t; context is a struct shrunk. */
int gather_run(void *context, const void *mine, size_t bytes, void *all,
               int timeout_ms);

#endif
