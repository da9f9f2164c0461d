/* SPDX-License-Identifier: BSD-3-Clause */
/* What the flat algorithms have in common. */
#ifndef DCOLL_FLAT_H
#define DCOLL_FLAT_H

#include "coll/schedule.h"

/** The rank @p distance after @p rank, with wrap-around; distance <= n. */
static inline unsigned flat_after(unsigned n, unsigned rank, unsigned distance)
{
    return (rank + distance) % n;
}

static inline unsigned flat_before(unsigned n, unsigned rank, unsigned distance)
{
    return (rank + n - distance) % n;
}

/** COPY; one with the last operation when both go on where that one ends. */
void flat_copy(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
               size_t bytes);
/** COPY of n blocks but block @p own, from and to where block 0 is. */
void flat_copy_others(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
                      unsigned n, unsigned own, size_t bytes);
/** COMPLETE, if there is a put. */
void flat_complete(dcoll_schedule_t *s);

/* An all-gather's board: N blocks in the order of ranks, in RECV (zero copy)
 * or in TEMP. */

dcoll_space_t board_space(const dcoll_args_t *args);
dcoll_place_t board_at(const dcoll_args_t *args, unsigned rank);
/** All-gather: where the rank's own block comes from. */
dcoll_place_t board_source(const dcoll_args_t *args, unsigned rank);
/** Own block onto the board, if it is not there. */
void board_begin(const dcoll_shape_t *shape, const dcoll_args_t *args,
                 unsigned rank, dcoll_schedule_t *s);
/** From the board to RECV, after everything has come; sets temp_bytes. */
void board_end(const dcoll_shape_t *shape, const dcoll_args_t *args,
               unsigned rank, dcoll_schedule_t *s);

#endif
