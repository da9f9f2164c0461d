/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which message a receive takes: of those from its peer with its tag, the first
 * that no receive has taken. Time: n log n, in any order of the messages.
 */
#ifndef BENCH_GOAL_MATCHER_H
#define BENCH_GOAL_MATCHER_H

#include "goal.h"

/** A message that has been sent. */
typedef struct mail {
    const goal_op_t *op;
    uint32_t number; /**< for the caller, as `step` */
    uint32_t step;
    uint32_t next; /**< of its channel */
    bool taken;    /**< by a receive that has started */
} mail_t;

struct channel;
struct inbox;

/** Begins as {0}. */
typedef struct matcher {
    const goal_t *goal;
    mail_t *mails; /**< owned, as all below */
    uint32_t nmails;
    uint32_t **channel; /**< by rank and operation */
    struct channel *channels;
    struct inbox *inboxes; /**< of the ranks */
} matcher_t;

/** @return 0, or -1: out of memory. To be closed in both cases. */
int matcher_open(matcher_t *matcher, const goal_t *goal);
void matcher_close(matcher_t *matcher);

/** Rank @p rank sends a message, by its operation @p op. */
void matcher_send(matcher_t *matcher, unsigned rank, uint32_t op,
                  uint32_t number, uint32_t step);
/** Its receive @p op starts. */
void matcher_receive(matcher_t *matcher, unsigned rank, uint32_t op);
/** Of the started receives of the rank whose message is there, takes the one
 *  that started first. @return its message; NULL: there is none. */
const mail_t *matcher_next(matcher_t *matcher, unsigned rank, uint32_t *op);

/** The line of the first started receive of the rank whose message is not
 *  there; 0: there is none. */
uint32_t matcher_waiting(const matcher_t *matcher, unsigned rank);
/** The line of a message that no receive has taken; 0: there is none. */
uint32_t matcher_left(const matcher_t *matcher);

#endif
