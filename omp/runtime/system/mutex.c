/* SPDX-License-Identifier: BSD-3-Clause */
/* Words for the program's mutexes (omp/wrapper/program_mutex.c) in regions of
 * several ranks. A free mutex has the word 0, as constructors of C++ clear it.
 * memory_lock() would store a number there, so threads poll instead. */
#include <sched.h>
#include <unistd.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"
#include "omp/wrapper/program.h"

unsigned railomp_rank(void)
{
    return memory_rank();
}

bool railomp_is_of_ranks(const void *object)
{
    return memory_ranks() > 1 && memory_is_shared(object);
}

bool railomp_is_copied(const void *object)
{
    return memory_is_copied() && memory_is_shared(object);
}

bool railomp_is_between_ranks(const void *object)
{
    return railomp_is_of_ranks(object) &&
           (memory_rank() || self()->team->active);
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

void railomp_pause(unsigned polls)
{
    enum { YIELDS = 100, PAUSE_US = 20 };
    if (polls < YIELDS)
        sched_yield();
    else
        usleep(PAUSE_US);
}

void railomp_word_await(uint32_t *word, uint32_t expected, uint32_t value)
{
    for (unsigned i = 0; !railomp_word_swap(word, expected, value); i++)
        railomp_pause(i);
}

void railomp_not_served(const char *what)
{
    fail(NOT_SERVED,
         "%s is not served in a region of several ranks: use a critical "
         "section, a lock of OpenMP or a plain mutex",
         what);
}

void railomp_synchronises(const void *object, const char *function)
{
    if (railomp_is_between_ranks(object))
        railomp_not_served(function);
}
