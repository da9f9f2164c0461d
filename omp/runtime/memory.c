/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "omp/runtime/alone.h"
#include "omp/runtime/fail.h"

static struct shared_words own_words;
struct shared_words *shared_words = &own_words;

unsigned memory_rank(void)
{
    return 0;
}

unsigned memory_ranks(void)
{
    return 1;
}

void memory_open(drail_job_t *job)
{
    (void)job;
}

void memory_alone(void)
{
}

void memory_close(void)
{
}

void *memory_stack(unsigned thread, size_t *bytes)
{
    (void)thread, (void)bytes;
    return NULL;
}

void memory_barrier(const void *mine, void *all)
{
    (void)mine, (void)all;
}

void memory_release(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void memory_acquire(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void memory_lock(uint32_t *word)
{
    alone_lock(word);
}

bool memory_try_lock(uint32_t *word)
{
    return alone_try_lock(word);
}

void memory_unlock(uint32_t *word)
{
    alone_unlock(word);
}

void memory_lock_end(uint32_t *word)
{
    *word = 0;
}

uint64_t memory_atomic(enum memory_op op, void *word, size_t bytes,
                       uint64_t operand, uint64_t expected)
{
    return alone_atomic(op, word, bytes, operand, expected);
}

void *memory_malloc(size_t alignment, size_t bytes)
{
    return alignment <= 16 ? malloc(bytes) : memalign(alignment, bytes);
}

void *memory_realloc(void *p, size_t bytes)
{
    return realloc(p, bytes);
}

void memory_free(void *p)
{
    free(p);
}
