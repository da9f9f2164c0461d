/* SPDX-License-Identifier: BSD-3-Clause */
/* Irregular collectives: how many elements for whom are in which bundle, for
 * the counts of a program, and so how much an operation moves. */
#ifndef DCOLL_CONTENTS_H
#define DCOLL_CONTENTS_H

#include "coll/schedule.h"

struct contents;

/* NULL: out of memory. The program must have counts, and outlive it. */
struct contents *contents_make(const dcoll_program_t *program);
void contents_free(struct contents *contents);

/* Performs the rank's next operation. The bytes that it sends, or copies in
 * memory; < 0: out of memory. */
double contents_move(struct contents *contents, unsigned rank,
                     const dcoll_op_t *op);
/* Has the rank offered that one something from its SEND? */
bool contents_pulled(const struct contents *contents, unsigned rank,
                     unsigned to);

#endif
