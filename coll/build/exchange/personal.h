/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-to-all where each block goes straight to its destination: where the
 * blocks are. Copy mode: those to send in TEMP, and those that come behind
 * them. Zero copy: from SEND to RECV; not in place, where RECV would be
 * overwritten before it is sent.
 */
#ifndef DCOLL_PERSONAL_H
#define DCOLL_PERSONAL_H

#include "coll/build/grant.h"

/** What all-to-all sends, by destination. */
dcoll_place_t personal_source(const dcoll_args_t *args, unsigned target);

bool personal_zero_copy(const dcoll_args_t *args);
grant_t personal_grant(const dcoll_args_t *args);
/** Own block to RECV, and, in copy mode, what is to be sent to TEMP. */
void personal_begin(const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, dcoll_schedule_t *s);
/** The block for @p target. */
void personal_put(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, unsigned target, unsigned port,
                  dcoll_schedule_t *s);
/** What has come to RECV; sets temp_bytes. */
void personal_end(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, dcoll_schedule_t *s);

#endif
