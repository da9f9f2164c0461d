/* SPDX-License-Identifier: BSD-3-Clause */
/* Vector clocks, and the notifications that carry them. */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/dapl_rail.h"
#include "verify.h"

bool verify_room(struct verifier *v, void **array, uint32_t count,
                 uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(*array, wanted * size);
    if (!grown) {
        v->error = DRAIL_ENOMEM;
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Takes a free snapshot, or NONE. */
static uint32_t take(struct verifier *v)
{
    struct snapshots *all = &v->snapshots;
    uint32_t capacity = all->capacity;
    uint32_t i = all->free;
    if (i != NONE) {
        all->free = all->users[i];
        return i;
    }
    if (!verify_room(v, (void **)&all->users, all->count, &capacity,
                     sizeof *all->users) ||
        !verify_room(v, (void **)&all->clock, all->count, &all->capacity,
                     v->nranks * sizeof *all->clock))
        return NONE;
    return all->count++;
}

static uint32_t *clock_of(const struct verifier *v, uint32_t snapshot)
{
    return v->snapshots.clock + (size_t)snapshot * v->nranks;
}

static void drop(struct snapshots *all, uint32_t snapshot)
{
    if (snapshot == NONE || --all->users[snapshot])
        return;
    all->users[snapshot] = all->free;
    all->free = snapshot;
}

/* The release carries the rank's clock; the rank's next operations come later.
 */
bool verify_release(struct verifier *v, unsigned rank, struct release *out)
{
    struct player *p = &v->players[rank];
    if (p->snapshot == NONE) {
        p->snapshot = take(v);
        if (p->snapshot == NONE)
            return false;
        memcpy(clock_of(v, p->snapshot), p->clock,
               v->nranks * sizeof *p->clock);
        v->snapshots.users[p->snapshot] = 1;
    }
    v->snapshots.users[p->snapshot]++;
    *out = (struct release){p->snapshot, p->clock[rank]++};
    return true;
}

void verify_acquire(struct verifier *v, unsigned rank, unsigned from,
                    struct release release)
{
    struct player *p = &v->players[rank];
    const uint32_t *news = clock_of(v, release.snapshot);
    uint32_t *clock = p->clock;
    /* a rank that knows this release knows its whole clock */
    if (clock[from] >= release.own)
        return;
    for (unsigned r = 0; r < v->nranks; r++)
        clock[r] = clock[r] < news[r] ? news[r] : clock[r];
    clock[from] = release.own;
    drop(&v->snapshots, p->snapshot);
    p->snapshot = NONE;
}

bool verify_send(struct verifier *v, unsigned from, const dcoll_op_t *op,
                 uint32_t put)
{
    const dcoll_tag_t tag = verify_tag(op);
    struct stream *s = stream_of(v, op->peer, from, tag);
    uint32_t i = v->messages_free;
    if (i != NONE)
        v->messages_free = v->messages[i].next;
    else if (verify_room(v, (void **)&v->messages, v->nmessages,
                         &v->messages_capacity, sizeof *v->messages))
        i = v->nmessages++;
    else
        return false;
    v->messages[i].put = put;
    v->messages[i].behind = tag == DCOLL_DATA ? op->step + 1u : 0;
    v->messages[i].next = NONE;
    if (!verify_release(v, from, &v->messages[i].release))
        return false;
    if (s->head == NONE)
        s->head = i;
    else
        v->messages[s->tail].next = i;
    s->tail = i;
    return true;
}

bool verify_receive(struct verifier *v, unsigned rank, unsigned from,
                    dcoll_tag_t tag)
{
    struct stream *s = stream_of(v, rank, from, tag);
    uint32_t i = s->head;
    if (i == NONE)
        return false;
    struct message *m = &v->messages[i];
    verify_acquire(v, rank, from, m->release);
    drop(&v->snapshots, m->release.snapshot);
    if (m->put != NONE)
        v->puts[m->put].seen = v->players[rank].clock[rank];
    if (!s->lag)
        verify_hear(&v->players[rank], m->behind);
    s->head = m->next;
    m->next = v->messages_free;
    v->messages_free = i;
    return true;
}
