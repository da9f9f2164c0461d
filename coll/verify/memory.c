/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents of memory, and races. Each cell records its latest write and the
 * reads since then (as FastTrack does; Flanagan and Freund, PLDI 2009). A rank
 * knows that an access is over if its clock has reached it; that of a put, if
 * its clock has reached the WAIT of the target or, for the source, the
 * COMPLETE.
 */
#include "verify.h"

/* Does the actor know that the access is over? */
static inline bool known(const struct verifier *v, const uint32_t *clock,
                         const struct access *a, bool reads)
{
    if (!(a->who & IS_PUT))
        return clock[a->who] >= a->when;
    const struct put *put = &v->puts[a->who & ~IS_PUT];
    return clock[put->target] >= put->seen ||
           (reads && clock[put->poster] >= put->completed);
}

static void conflict(struct verifier *v, const struct actor *actor,
                     const struct region *region, size_t cell,
                     const char *doing, const struct access *other,
                     const char *done)
{
    char where[192], before[192], place[96];
    bool put = other->who & IS_PUT;
    unsigned rank = put ? v->puts[other->who & ~IS_PUT].poster : other->who;
    verify_where(v, actor->rank, actor->access.what, where, sizeof where);
    verify_where(v, rank, other->what, before, sizeof before);
    verify_place(v, region, cell, place, sizeof place);
    verify_fail(v, "%s %s %s, unordered with %s, which %s them", where, doing,
                place, before, done);
}

static struct use *use_of(const struct verifier *v, const struct access *write)
{
    bool put = write->who & IS_PUT;
    unsigned rank = put ? v->puts[write->who & ~IS_PUT].poster : write->who;
    unsigned ops = schedule_of(v, rank)->nops + USER_OPS;
    return &v->players[rank].uses[write->what % ops];
}

void verify_forget(struct verifier *v, const struct cell *cell)
{
    if (!cell->read.when)
        use_of(v, &cell->write)->cells--;
}

/* Is it ordered with the write of the cell? Then it is recorded as a reader. */
static bool reads(struct verifier *v, const struct actor *actor,
                  const struct region *region, size_t cell)
{
    struct cell *c = &region->cells[cell];
    const uint32_t *clock = v->players[actor->rank].clock;
    if (!known(v, clock, &c->write, false)) {
        conflict(v, actor, region, cell, "reads", &c->write, "writes");
        return false;
    }
    if (!known(v, clock, &c->read, true)) {
        if (!verify_room(v, (void **)&v->readers, v->nreaders,
                         &v->readers_capacity, sizeof *v->readers))
            return false;
        v->readers[v->nreaders] = (struct reader){c->read, c->readers};
        c->readers = v->nreaders++;
    }
    return true;
}

bool verify_read(struct verifier *v, const struct actor *actor,
                 const struct region *region, size_t cell)
{
    struct cell *c = &region->cells[cell];
    if (!reads(v, actor, region, cell))
        return false;
    if (!c->read.when && c->write.when)
        use_of(v, &c->write)->read++; /* the written value was needed */
    c->read = actor->access;
    return true;
}

/* Is it ordered with the write and all reads of the cell? */
static bool writes(struct verifier *v, const struct actor *actor,
                   const struct region *region, size_t cell)
{
    const struct cell *c = &region->cells[cell];
    const uint32_t *clock = v->players[actor->rank].clock;
    const struct access *reader = &c->read;
    if (!known(v, clock, &c->write, false)) {
        conflict(v, actor, region, cell, "writes", &c->write, "writes");
        return false;
    }
    for (uint32_t i = c->readers;; i = v->readers[i].next) {
        if (!known(v, clock, reader, true)) {
            conflict(v, actor, region, cell, "writes", reader, "reads");
            return false;
        }
        if (i == NONE)
            break;
        reader = &v->readers[i].access;
    }
    return true;
}

bool verify_write(struct verifier *v, const struct actor *actor,
                  const struct region *region, size_t cell, uint64_t value)
{
    struct cell *c = &region->cells[cell];
    if (!writes(v, actor, region, cell))
        return false;
    actor->use->cells++;
    actor->use->fresh += c->value != value;
    *c = (struct cell){value, actor->access, {0}, NONE};
    return true;
}

/* The undefined value that other counts would leave there. */
#define ANYTHING ((uint64_t)1 << 63)

bool verify_may_read(struct verifier *v, const struct actor *actor,
                     const struct region *region, size_t from, size_t end)
{
    for (size_t i = from / v->grain; i < end / v->grain; i++) {
        if (!reads(v, actor, region, i))
            return false;
        region->cells[i].read = actor->access;
    }
    return true;
}

bool verify_may_write(struct verifier *v, const struct actor *actor,
                      const struct region *region, size_t from, size_t end)
{
    for (size_t i = from / v->grain; i < end / v->grain; i++) {
        if (!writes(v, actor, region, i))
            return false;
        region->cells[i] = (struct cell){ANYTHING, actor->access, {0}, NONE};
    }
    return true;
}

bool verify_may_move(struct verifier *v, const struct actor *actor,
                     const struct region *src, const struct region *dst,
                     size_t from, size_t end)
{
    return verify_may_read(v, actor, src, from, end) &&
           verify_may_write(v, actor, dst, from, end);
}

bool verify_move(struct verifier *v, const struct actor *actor,
                 const struct region *src, const struct region *dst,
                 size_t bytes)
{
    for (size_t i = 0; i < bytes / v->grain; i++)
        if (!verify_read(v, actor, src, i) ||
            !verify_write(v, actor, dst, i, src->cells[i].value))
            return false;
    return true;
}
