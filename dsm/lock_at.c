/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks by address. The word has the number of a lock, or 0: then the first
 * rank that uses it swaps a new number in. New numbers come from the upper half
 * of ddsm_config_t.locks, by a counter at rank 0. A rank keeps numbers that it
 * does not need, and gives them to its next words.
 *
 * A rank remembers the numbers of words, until any rank begins or ends a lock.
 * That rank forgets its own number at once, and tells all ranks in its next
 * flush: nobody else may use the word before.
 */
#include <string.h>

#include "dsm/base/enter.h"
#include "dsm/sync/lock_numbers.h"

/* The number that this rank's copy of the word has. The program has
 * synchronised since another rank has begun or ended the lock. */
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

static struct lock_name *place_of(ddsm_t *d, const uint32_t *word)
{
    return &d->lock_names[hash_place((uintptr_t)word, LOCK_NAMES)];
}

/* 0: it is not known. */
static int recall(ddsm_t *d, const uint32_t *word, uint32_t *number)
{
    int rc = space_enter(d);
    if (rc)
        return rc;
    const uint64_t ends = atomic_load(d->control.lock_ends);
    if (ends != d->lock_ends)
        memset(d->lock_names, 0, sizeof d->lock_names);
    d->lock_ends = ends;
    const struct lock_name *place = place_of(d, word);
    *number = place->word == word ? place->number : 0;
    space_leave(d);
    return 0;
}

static int remember(ddsm_t *d, const uint32_t *word, uint32_t number)
{
    int rc = space_enter(d);
    if (rc)
        return rc;
    *place_of(d, word) = (struct lock_name){word, number};
    space_leave(d);
    return 0;
}

static int find(ddsm_t *d, uint32_t *word, uint32_t *number)
{
    int rc = recall(d, word, number);
    if (rc || *number)
        return rc;
    *number = number_in(word);
    if (!*number)
        rc = name(d, word, number);
    return rc ? rc : remember(d, word, *number);
}

static int with_number(ddsm_t *d, uint32_t *word,
                       int (*act)(ddsm_t *d, unsigned id))
{
    uint32_t number;
    if (!d || !word)
        return DRAIL_EINVAL;
    int rc = find(d, word, &number);
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

/* Makes the word 0. @number: what is free then, or 0. */
static int clear(ddsm_t *d, uint32_t *word, uint32_t number)
{
    int rc = ddsm_atomic(d, DDSM_STORE, word, sizeof *word, 0, 0, NULL);
    if (!rc)
        rc = space_enter(d);
    if (rc)
        return rc;
    struct lock_name *place = place_of(d, word);
    if (place->word == word)
        *place = (struct lock_name){NULL, 0};
    d->lock_ended = true;
    if (number)
        lock_numbers_give(d, number);
    space_leave(d);
    return 0;
}

int ddsm_lock_begin(ddsm_t *d, uint32_t *word)
{
    return d && word ? clear(d, word, 0) : DRAIL_EINVAL;
}

int ddsm_lock_end(ddsm_t *d, uint32_t *word)
{
    return d && word ? clear(d, word, number_in(word)) : DRAIL_EINVAL;
}
