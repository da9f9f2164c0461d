/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program's mutexes (omp/wrapper/program_mutex.c) are in regions of
 * several ranks: a word that is 0 at first, as memory is that a constructor of
 * C++ has cleared. So it has no number (memory_lock()), and threads poll. */
#include <sched.h>
#include <unistd.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"
#include "omp/wrapper/program.h"

bool railomp_is_between_ranks(const void *object)
{
    return memory_ranks() > 1 && self()->team->active &&
           memory_is_shared(object);
}

bool railomp_word_swap(uint32_t *word, uint32_t expected, uint32_t value)
{
    if (memory_atomic(DDSM_COMPARE_SWAP, word, sizeof *word, value, expected) !=
        expected)
        return false;
    memory_acquire();
    return true;
}

void railomp_word_set(uint32_t *word, uint32_t value)
{
    memory_release();
    memory_atomic(DDSM_STORE, word, sizeof *word, value, 0);
}

void railomp_word_await(uint32_t *word, uint32_t expected, uint32_t value)
{
    enum { YIELDS = 100, PAUSE_US = 20 };
    for (unsigned i = 0; !railomp_word_swap(word, expected, value); i++)
        if (i < YIELDS)
            sched_yield();
        else
            usleep(PAUSE_US);
}

void railomp_synchronises(const void *object, const char *function)
{
    if (railomp_is_between_ranks(object))
        fail(NOT_SERVED,
             "%s() is not served in a region of several ranks: use a critical "
             "section, a lock of OpenMP or a mutex",
             function);
}
