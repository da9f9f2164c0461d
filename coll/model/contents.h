/* SPDX-License-Identifier: BSD-3-Clause */
/* Irregular collectives: how many elements for which rank are in which bundle,
 * for the counts of a program; so how many bytes each operation moves. */
#ifndef DCOLL_CONTENTS_H
#define DCOLL_CONTENTS_H

#include "coll/schedule.h"

struct contents;

/* The program must have counts, and outlive it. NULL: out of memory. */
struct contents *contents_make(const dcoll_program_t *program);
void contents_free(struct contents *contents);

/* Performs the rank's next operation. Returns the bytes that it sends or
 * copies; < 0: out of memory. */
double contents_move(struct contents *contents, unsigned rank,
                     const dcoll_op_t *op);
/* Has the rank left elements for that peer in its SEND? */
bool contents_pulled(const struct contents *contents, unsigned rank,
                     unsigned to);

#endif
