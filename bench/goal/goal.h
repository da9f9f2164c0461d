/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GOAL, the text format of LogGOPSim (Hoefler, Schneider and Lumsdaine 2010):
 * for each rank sends, receives and calculations, and which of them requires
 * which.
 *
 * write.c: one start of a schedule as GOAL; words.h: words of a line; labels.h;
 * read.c: a file; order.c: the file as schedules; matcher.h: which message a
 * receive takes.
 */
#ifndef BENCH_GOAL_H
#define BENCH_GOAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coll/schedule.h"

/** Most ranks and ports of a file. */
#define GOAL_RANKS 1024
#define GOAL_PORTS 256
/** Most bytes, or units of time, of one operation. */
#define GOAL_MOST (UINT64_C(1) << 48)

typedef enum goal_kind { GOAL_SEND, GOAL_RECV, GOAL_CALC } goal_kind_t;

/** What an operation requires: another one of its rank. */
typedef struct goal_need {
    uint32_t op, of; /**< `op` requires `of` */
    bool started;    /**< irequires: `of` has started; else it is finished */
} goal_need_t;

typedef struct goal_op {
    goal_kind_t kind;
    uint64_t size; /**< bytes; of a calculation: units of time */
    uint32_t peer, tag, nic, line;
} goal_op_t;

typedef struct goal_rank {
    goal_op_t *ops;
    goal_need_t *needs;
    uint32_t nops, nneeds;
    bool given; /**< the file has this rank */
} goal_rank_t;

/** A file. */
typedef struct goal {
    unsigned nranks;
    goal_rank_t *rank; /**< owned, as what is in it */
} goal_t;

/** NULL: goal_write() can write it. Else the reason why not, constant text. */
const char *goal_refusal(const dcoll_program_t *program);
/**
 * Writes one start. A PUT becomes a send, of 0 bytes if it only notifies; a
 * WAIT a receive; COPY and COMBINE a calculation of @p unit for each byte;
 * COMPLETE a calculation of 0 that requires the sends. Ports are NICs. Credits
 * for later starts are left out. The program must not be refused.
 * @return 0, or -1: out of memory.
 */
int goal_write(FILE *file, const dcoll_program_t *program, double unit);

/** Reads a file. @return 0; or -1 with the line in @p why, and nothing to free.
 */
int goal_read(goal_t *goal, const char *path, char *why, size_t size);
void goal_free(goal_t *goal);

/**
 * Runs the file without times, which puts the operations of each rank into an
 * order, and makes schedules of that: a calculation becomes a COPY of as many
 * bytes. @p program: `messages_only`, to be freed with goal_program_free(); @p
 * shape: its shape.
 * @return 0; or -1 with the line in @p why, and nothing to free: ranks wait for
 * ever, or messages are not received.
 */
int goal_program(const goal_t *goal, dcoll_shape_t *shape,
                 dcoll_program_t *program, char *why, size_t size);
void goal_program_free(dcoll_shape_t *shape, dcoll_program_t *program);

#endif
