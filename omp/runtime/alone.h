/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that the threads of one rank share: all words, if there is one rank. */
#ifndef OMP_RUNTIME_ALONE_H
#define OMP_RUNTIME_ALONE_H

#include "omp/runtime/memory.h"

uint64_t alone_atomic(ddsm_atomic_t op, void *word, size_t bytes,
                      uint64_t operand, uint64_t expected);
void alone_lock(uint32_t *word);
bool alone_try_lock(uint32_t *word);
void alone_unlock(uint32_t *word);

#endif
