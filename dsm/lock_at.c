/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks by address. The word has the number of a lock, or 0: then the first
 * rank that uses it swaps a new number in. New numbers come from the upper half
 * of ddsm_config_t.locks, by a counter at rank 0. A rank keeps numbers that it
 * does not need, and gives them to its next words.
 */
#include "dsm/base/enter.h"
#include "dsm/sync/lock_numbers.h"

/* The number that this rank's copy of the word has. The program has
 * synchronised since a ddsm_lock_end() of another rank. */
static uint32_t number_in(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static int name(ddsm_t *d, uint32_t *word, uint32_t *number)
{
    uint32_t fresh;
    uint64_t old = 0;
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->broken ? d->broken : lock_numbers_take(d, &fresh);
    space_leave(d);
    if (rc)
        return rc;
    rc = ddsm_atomic(d, DDSM_COMPARE_SWAP, word, sizeof *word, fresh, 0, &old);
    *number = old ? (uint32_t)old : fresh;
    if (!rc && !old)
        return 0;
    if (space_enter(d) == 0) {
        lock_numbers_give(d, fresh);
        space_leave(d);
    }
    return rc;
}

static int with_number(ddsm_t *d, uint32_t *word,
                       int (*act)(ddsm_t *d, unsigned id))
{
    if (!d || !word)
        return DRAIL_EINVAL;
    uint32_t number = number_in(word);
    int rc = number ? 0 : name(d, word, &number);
    return rc ? rc : act(d, number);
}

int ddsm_lock_at(ddsm_t *d, uint32_t *word)
{
    return with_number(d, word, ddsm_lock);
}

int ddsm_trylock_at(ddsm_t *d, uint32_t *word)
{
    return with_number(d, word, ddsm_trylock);
}

int ddsm_unlock_at(ddsm_t *d, uint32_t *word)
{
    return with_number(d, word, ddsm_unlock);
}

int ddsm_lock_end(ddsm_t *d, uint32_t *word)
{
    if (!d || !word)
        return DRAIL_EINVAL;
    const uint32_t number = number_in(word);
    int rc = ddsm_atomic(d, DDSM_STORE, word, sizeof *word, 0, 0, NULL);
    if (rc || !number)
        return rc;
    rc = space_enter(d);
    if (rc)
        return rc;
    lock_numbers_give(d, number);
    space_leave(d);
    return 0;
}
