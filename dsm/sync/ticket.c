/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock's word has three counters, from its upper end: tickets taken, tickets
 * abandoned, and the ticket whose turn it is. Behind the clock are slots for
 * abandoned tickets. A compare-and-swap empties a slot: by the rank that passes
 * the turn on, which then skips that ticket, or by the rank that abandoned it
 * and asks again, which then has its old place. So a rank never has more
 * tickets than threads.
 *
 * No turn is lost. A rank that abandons a ticket (1) counts it, (2) writes it
 * to a slot, (3) reads whose turn it is. A rank that passes the turn on (1)
 * advances the turn, (2) reads the slots if any is counted. So at least one of
 * them sees that the turn is an abandoned ticket's; whoever empties the slot
 * passes the turn on. At the home these steps mix atomics and loads, which
 * takes a fence: on aarch64 a load may be made before the store of an earlier
 * atomic is seen.
 */
#include "dsm/sync/ticket.h"

#include "dsm/sync/control.h"

#define ASKED           ((uint64_t)1 << 40)
#define ABANDONED       ((uint64_t)1 << 24)
#define ABANDONED_COUNT 0xffffu

static int add(ddsm_t *d, const struct lock *lock, uint64_t value,
               uint64_t *old)
{
    int rc =
        drail_atomic(d->t, lock->home, DRAIL_FETCH_ADD,
                     &d->control.keys[lock->home], lock->offset, value, 0, old);
    return rc ? space_break_rails(d, rc, "lock") : 0;
}

static size_t slot_offset(const ddsm_t *d, const struct lock *lock,
                          unsigned place)
{
    return lock->offset + (1 + (size_t)d->size + place) * sizeof(uint64_t);
}

static int compare_swap(ddsm_t *d, const struct lock *lock, size_t offset,
                        uint64_t from, uint64_t to, uint64_t *old)
{
    int rc = drail_atomic(d->t, lock->home, DRAIL_CMP_SWAP,
                          &d->control.keys[lock->home], offset, to, from, old);
    return rc ? space_break_rails(d, rc, "lock") : 0;
}

/* Compare and swap of a slot. */
static int swap(ddsm_t *d, const struct lock *lock, unsigned place,
                uint64_t from, uint64_t to, bool *swapped)
{
    uint64_t old;
    int rc = compare_swap(d, lock, slot_offset(d, lock, place), from, to, &old);
    *swapped = !rc && old == from;
    return rc;
}

/* A slot has rank and ticket + 1; 0: free. */
#define RANK ((uint64_t)1 << 32)

static uint64_t abandoned_by(const ddsm_t *d, uint32_t ticket)
{
    return d->rank * RANK + ticket + 1;
}

static uint32_t ticket_in(uint64_t place)
{
    return (uint32_t)place - 1;
}

static uint32_t next(uint32_t ticket)
{
    return (ticket + 1) & TICKET_MAX;
}

/* Added to the word, this advances the turn, which wraps without a carry. */
static uint64_t step(uint32_t ticket)
{
    return ticket == TICKET_MAX ? 1 - ABANDONED : 1;
}

int ticket_take(ddsm_t *d, const struct lock *lock, uint32_t *ticket,
                uint32_t *serving)
{
    uint64_t old = 0;
    int rc = add(d, lock, ASKED, &old);
    *ticket = (uint32_t)(old / ASKED);
    *serving = (uint32_t)old & TICKET_MAX;
    return rc;
}

int ticket_try(ddsm_t *d, const struct lock *lock, uint32_t *ticket)
{
    uint64_t word, old;
    int rc = add(d, lock, 0, &word);
    while (!rc) {
        *ticket = (uint32_t)(word / ASKED);
        if (*ticket != ((uint32_t)word & TICKET_MAX))
            return DRAIL_EAGAIN;
        rc = compare_swap(d, lock, lock->offset, word, word + ASKED, &old);
        if (!rc && old == word)
            return 0;
        word = old;
    }
    return rc;
}

int ticket_poll(ddsm_t *d, const struct lock *lock, uint32_t *serving)
{
    int rc = 0;
    if (lock->home == d->rank) {
        atomic_thread_fence(
            memory_order_seq_cst); /* after storing its own ticket */
        const uint64_t *word = (uint64_t *)(d->control.start + lock->offset);
        *serving = (uint32_t)__atomic_load_n(word, __ATOMIC_ACQUIRE);
        /* serves atomics of other ranks, if they need it */
        rc = drail_progress(d->t);
        rc = rc ? space_break_rails(d, rc, "lock") : 0;
    } else {
        rc = control_read(d, lock->home, lock->offset, d->control.word,
                          sizeof(uint64_t));
        *serving = (uint32_t)*d->control.word;
    }
    *serving &= TICKET_MAX;
    return rc;
}

static int read_slots(ddsm_t *d, const struct lock *lock)
{
    return control_read(d, lock->home, slot_offset(d, lock, 0),
                        d->control.abandoned,
                        TICKET_ABANDONED_MAX * sizeof *d->control.abandoned);
}

/* Takes @ticket from its slot, if it is in one. */
static int claim(ddsm_t *d, const struct lock *lock, uint32_t ticket,
                 bool *claimed)
{
    const uint64_t *place = d->control.abandoned;
    atomic_thread_fence(memory_order_seq_cst); /* after advancing the turn */
    int rc = read_slots(d, lock);
    *claimed = false;
    for (unsigned i = 0; !rc && !*claimed && i < TICKET_ABANDONED_MAX; i++)
        if (place[i] && ticket_in(place[i]) == ticket)
            rc = swap(d, lock, i, place[i], 0, claimed);
    return rc;
}

/* Passes the turn of @ticket on, which was abandoned itself, or was not. */
static int pass(ddsm_t *d, const struct lock *lock, uint32_t ticket,
                bool has_abandoned)
{
    for (;;) {
        uint64_t old;
        int rc =
            add(d, lock, step(ticket) - (has_abandoned ? ABANDONED : 0), &old);
        if (rc || !((old / ABANDONED & ABANDONED_COUNT) - has_abandoned))
            return rc;
        ticket = next(ticket);
        rc = claim(d, lock, ticket, &has_abandoned);
        if (rc || !has_abandoned)
            return rc;
    }
}

int ticket_pass(ddsm_t *d, const struct lock *lock, uint32_t ticket)
{
    return pass(d, lock, ticket, false);
}

/* Into a free slot. Slots change meanwhile, so having seen none free proves
 * nothing: there is none only if too many are counted. */
static int put(ddsm_t *d, const struct lock *lock, uint32_t ticket)
{
    const uint64_t *place = d->control.abandoned;
    bool done = false;
    for (;;) {
        uint64_t word;
        int rc = read_slots(d, lock);
        for (unsigned i = 0; !rc && !done && i < TICKET_ABANDONED_MAX; i++)
            if (!place[i])
                rc = swap(d, lock, i, 0, abandoned_by(d, ticket), &done);
        if (rc || done)
            return rc;
        rc = add(d, lock, 0, &word);
        if (rc || (word / ABANDONED & ABANDONED_COUNT) > TICKET_ABANDONED_MAX)
            return rc ? rc : DRAIL_EAGAIN;
    }
}

int ticket_abandon(ddsm_t *d, const struct lock *lock, uint32_t ticket)
{
    bool done = false;
    uint32_t serving;
    int rc = add(d, lock, ABANDONED, NULL);
    if (!rc)
        rc = put(d, lock, ticket);
    if (rc == DRAIL_EAGAIN) {
        rc = add(d, lock, -ABANDONED, NULL);
        return rc ? rc : DRAIL_EAGAIN;
    }
    if (!rc)
        rc = ticket_poll(d, lock, &serving);
    if (rc || serving != ticket)
        return rc;
    rc = claim(d, lock, ticket, &done);
    return rc || !done ? rc : pass(d, lock, ticket, true);
}

int ticket_reclaim(ddsm_t *d, const struct lock *lock, uint32_t *ticket,
                   uint32_t *serving)
{
    const uint64_t *place = d->control.abandoned;
    bool done = false;
    uint64_t old;
    int rc = read_slots(d, lock);
    for (unsigned i = 0; !rc && !done && i < TICKET_ABANDONED_MAX; i++)
        if (place[i] && place[i] / RANK == d->rank) {
            *ticket = ticket_in(place[i]);
            rc = swap(d, lock, i, place[i], 0, &done);
        }
    if (rc || !done)
        return rc ? rc : DRAIL_EAGAIN;
    rc = add(d, lock, -ABANDONED,
             &old); /* only now: the count covers all slots in use */
    *serving = (uint32_t)old & TICKET_MAX;
    return rc;
}
