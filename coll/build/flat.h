/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of algorithms that ignore nodes, and the board of an all-gather. */
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

/** base to the power of exponent. */
unsigned flat_power(unsigned base, unsigned exponent);

/** ⌈log_{k+1} n⌉: the steps in which what one rank has reaches n ranks. */
unsigned flat_steps(unsigned n, unsigned k);

/** A step takes as long as so many bytes through a port: for algorithms that
 *  choose between fewer steps and fewer bytes. */
#define FLAT_STEP_BYTES 4096.0

/** COPY; merged with the last operation if it continues that copy. */
void flat_copy(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
               size_t bytes);
/** Copies n blocks except block @p own; src and dst are the places of block 0.
 */
void flat_copy_others(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
                      unsigned n, unsigned own, size_t bytes);
/** The same for the n blocks of the call, which may have different sizes. */
void flat_copy_other_blocks(dcoll_schedule_t *s, dcoll_place_t src,
                            dcoll_place_t dst, const dcoll_args_t *args,
                            unsigned n, unsigned own);
/** COMPLETE, if the schedule has a put. */
void flat_complete(dcoll_schedule_t *s);

/* The board of an all-gather: N blocks in the order of ranks, in RECV (zero
 * copy) or in TEMP. */

dcoll_space_t board_space(const dcoll_args_t *args);
dcoll_place_t board_at(const dcoll_args_t *args, unsigned rank);
/** The source of the rank's own block. */
dcoll_place_t board_source(const dcoll_args_t *args, unsigned rank);
/** Copies the own block onto the board, unless it is there. */
void board_begin(const dcoll_shape_t *shape, const dcoll_args_t *args,
                 unsigned rank, dcoll_schedule_t *s);
/** Copies the board to RECV, after all blocks have arrived; sets temp_bytes. */
void board_end(const dcoll_shape_t *shape, const dcoll_args_t *args,
               unsigned rank, dcoll_schedule_t *s);

#endif
