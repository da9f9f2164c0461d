/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dynamic and guided loops, in two levels. A rank takes a batch of chunks from
 * a word that all ranks share; its threads take their chunks from the batch.
 */
#ifndef OMP_RUNTIME_BATCH_H
#define OMP_RUNTIME_BATCH_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* The next chunk of the thread's loop, as loop.first and loop.last; false: none
 * is left. */
bool batch_take(struct thread *t);

#endif
