/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast of a long block in n pieces on a circulant graph (circulant.h),
 * among all ranks or one of each node: n - 1 + ⌈log₂ N⌉ steps for N members.
 * Each piece is striped over the ports. Members may run ahead of others, so the
 * first put from one to another is granted.
 */
#ifndef DCOLL_CIRCULANT_BCAST_H
#define DCOLL_CIRCULANT_BCAST_H

#include "coll/build/exchange/circulant.h"
#include "coll/build/grant.h"
#include "coll/build/reduce/combine.h"
#include "coll/schedule.h"

struct circulant_bcast {
    /* by the caller */
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    /* the rank of a member; member 0 is the root */
    unsigned (*rank_of)(const struct circulant_bcast *b, unsigned member);
    unsigned me;            /* my number as a member */
    dcoll_place_t from, to; /* of the block, here and where it is put */
    grant_t grant;
    /* by circulant_bcast_plan() */
    struct circulant graph;
    unsigned pieces;      /* n */
    struct slices slices; /* of all pieces: one for each port */
    /* by round of the first phase: the piece that I receive, and send */
    int comes[CIRCULANT_ROUNDS_MAX], goes[CIRCULANT_ROUNDS_MAX];
};

/** For @p members > 1. */
void circulant_bcast_plan(struct circulant_bcast *b, unsigned members);
/** grant_open or grant_close, for all members that put to me. */
void circulant_bcast_grant(const struct circulant_bcast *b,
                           grant_change_t *how);
/** Adds the puts and waits of all rounds. */
void circulant_bcast_run(const struct circulant_bcast *b);

/* Rounds, for the reverse (reduce/circulant_reduce.h), too. */

unsigned circulant_bcast_first(const struct circulant_bcast *b);
unsigned circulant_bcast_last(const struct circulant_bcast *b);
/** The piece that a round moves; @p phase: `comes` or `goes`. false: none. */
bool circulant_bcast_piece(const struct circulant_bcast *b, const int *phase,
                           unsigned round, unsigned *piece);
/** The ranks from which a round's piece comes, and to which it goes. */
unsigned circulant_bcast_source(const struct circulant_bcast *b,
                                unsigned round);
unsigned circulant_bcast_target(const struct circulant_bcast *b,
                                unsigned round);

#endif
