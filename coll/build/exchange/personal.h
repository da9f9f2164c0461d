/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-to-all in which each block goes straight to its destination: the places
 * of the blocks. With copies: blocks to send are in TEMP, and received ones
 * behind them. Zero copy: from SEND to RECV; but not in place, where RECV would
 * be overwritten before it is sent.
 */
#ifndef DCOLL_PERSONAL_H
#define DCOLL_PERSONAL_H

#include "coll/build/grant.h"

/** The place of the block for a destination. */
dcoll_place_t personal_source(const dcoll_args_t *args, unsigned target);
grant_t personal_grant(const dcoll_args_t *args);
/** Copies my own block to RECV and, unless zero copy, blocks to send to TEMP.
 */
void personal_begin(const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, dcoll_schedule_t *s);
/** Puts the block for @p target. */
void personal_put(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, unsigned target, unsigned port,
                  dcoll_schedule_t *s);
/** Copies received blocks to RECV, unless zero copy; sets temp_bytes. */
void personal_end(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, dcoll_schedule_t *s);

#endif
