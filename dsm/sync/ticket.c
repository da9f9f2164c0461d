/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock's word counts, from its upper end, who has asked, who has left the
 * queue, and whose turn it is. Behind the clock are places for the tickets of
 * those who have left, each taken and given back by who swaps it first: who
 * passes the turn on, or the rank that left it and asks again, whose it is then
 * as if it had never left. So a rank has no more tickets than threads.
 *
 * Who leaves is counted, then writes its ticket, then looks whose turn it is;
 * who passes the turn on changes that, then reads the tickets, if any is
 * counted. So one of the two sees that the turn is one that has left, and who
 * swaps the ticket away passes it on. At the home, which changes by atomics
 * what it then loads, that takes a fence: on aarch64 a load may be made before
 * what an atomic has stored is seen.
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

/* Was it `from`? Then it is `to` now. */
static int swap(ddsm_t *d, const struct lock *lock, unsigned place,
                uint64_t from, uint64_t to, bool *swapped)
{
    uint64_t old;
    int rc = drail_atomic(d->t, lock->home, DRAIL_CMP_SWAP,
                          &d->control.keys[lock->home],
                          slot_offset(d, lock, place), to, from, &old);
    *swapped = !rc && old == from;
    return rc ? space_break_rails(d, rc, "lock") : 0;
}

/* Tickets of ranks in their places, of which 0 is none. */
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

/* The turn's count must not carry. */
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

int ticket_poll(ddsm_t *d, const struct lock *lock, uint32_t *serving)
{
    int rc = 0;
    if (lock->home == d->rank) {
        atomic_thread_fence(memory_order_seq_cst); /* after its own ticket */
        const uint64_t *word = (uint64_t *)(d->control.start + lock->offset);
        *serving = (uint32_t)__atomic_load_n(word, __ATOMIC_ACQUIRE);
        /* others' atomics may need this rank */
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

/* Takes the ticket from its place, if it is there. */
static int claim(ddsm_t *d, const struct lock *lock, uint32_t ticket,
                 bool *claimed)
{
    const uint64_t *place = d->control.abandoned;
    atomic_thread_fence(memory_order_seq_cst); /* after the turn */
    int rc = read_slots(d, lock);
    *claimed = false;
    for (unsigned i = 0; !rc && !*claimed && i < TICKET_ABANDONED_MAX; i++)
        if (place[i] && ticket_in(place[i]) == ticket)
            rc = swap(d, lock, i, place[i], 0, claimed);
    return rc;
}

/* From that of @ticket on, which has left as well, or has not. */
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

/* Into a place that is free. Others may take those that it finds so, and leave
 * some that it has seen taken: there is none only if too many are counted. */
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
    rc =
        add(d, lock, -ABANDONED, &old); /* no sooner: it counts all in places */
    *serving = (uint32_t)old & TICKET_MAX;
    return rc;
}
