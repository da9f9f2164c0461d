/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of blocks for neighbours become an all-to-all with counts, of bytes. It
 * has one block for each rank. If a rank's blocks do not follow each other in
 * the user's buffer, they are packed before a start, and unpacked after it.
 */
#ifndef DCOLL_NEIGHBORHOOD_H
#define DCOLL_NEIGHBORHOOD_H

#include "coll/dcoll.h"
#include "coll/run/irregular/elements.h"

/* It has a copy of the lists. */
struct neighborhood;

/* 0, or DRAIL_ENOMEM. Wrong arguments are found by elements_check(). */
int neighborhood_open(dcoll_team_t *team,
                      const dcoll_neighbor_alltoallv_t *call,
                      struct neighborhood **out);
/* NULL: does nothing. */
void neighborhood_close(struct neighborhood *n);
/* The all-to-all; it points into @n. */
struct elements neighborhood_elements(const struct neighborhood *n);
void neighborhood_pack(const struct neighborhood *n);
void neighborhood_unpack(const struct neighborhood *n);

#endif
