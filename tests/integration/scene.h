/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers for collectives: what ranks give, and what they must get. */
#ifndef TESTS_SCENE_H
#define TESTS_SCENE_H

#include "team.h"
#include "tests/unit/collectives.h"

#define MOST 40000 /* bytes of the largest block */
#define ROOM 16    /* bytes behind a buffer that must stay as they are */

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    unsigned char *send, *recv;
    drail_mem_t *send_mem, *recv_mem;
};

static inline void scene_memory(struct scene *s)
{
    size_t bytes = (size_t)s->r->size * MOST + ROOM;
    expect(s->r, 0,
           drail_mem_alloc(s->r->t, bytes, DRAIL_ACCESS_ALL, (void **)&s->send,
                           &s->send_mem));
    expect(s->r, 0,
           drail_mem_alloc(s->r->t, bytes, DRAIL_ACCESS_ALL, (void **)&s->recv,
                           &s->recv_mem));
}

static inline void scene_open(struct scene *s, struct rank *r, unsigned depth)
{
    dcoll_config_t cfg;
    drail_error_t err = {0};
    dcoll_config_init(&cfg);
    cfg.depth = depth;
    s->r = r;
    int rc = dcoll_team_create(r->job, r->t, &cfg, &s->team, &err);
    if (rc)
        printf("# rank %u: %s\n", r->rank, err.text);
    check(rc == 0);
    scene_memory(s);
}

static inline void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
    expect(s->r, 0, drail_mem_release(s->send_mem));
    expect(s->r, 0, drail_mem_release(s->recv_mem));
}

/* A call of the library must return 0. */
static inline void good(const struct scene *s, int rc, const char *what)
{
    team_good(s->r, s->team, rc, what);
}

/* Byte i of the block that rank `from` has for rank `to`, in one start. */
static inline unsigned char content(unsigned start, unsigned from, unsigned to,
                                    size_t i)
{
    uint64_t x = start * 1000003u + from * 10007u + to * 101u + i;
    x *= 0x9e3779b97f4a7c15ull;
    return (unsigned char)(x >> 56);
}

static inline void fill(unsigned char *at, unsigned start, unsigned from,
                        unsigned to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = content(start, from, to, i);
}

/* The operands of this rank's result, combined in the order of ranks; without
 * any, what rank 0 has given. */
static inline bool holds_combined(const struct scene *s, unsigned start,
                                  const dcoll_call_t *c)
{
    const unsigned me = s->r->rank, to = gives_each(c->collective) ? me : 0;
    const unsigned count = operands_of(c->collective, me, s->r->size);
    for (size_t i = 0; i < c->bytes; i++) {
        unsigned char value = content(start, 0, to, i);
        for (unsigned r = 1; r < count; r++)
            value = combined(c->reduction, value, content(start, r, to, i));
        if (s->recv[i] != value) {
            printf("# start %u: combined, byte %zu of %zu\n", start, i,
                   c->bytes);
            return false;
        }
    }
    return true;
}

static inline bool holds(const unsigned char *at, unsigned start, unsigned from,
                         unsigned to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != content(start, from, to, i)) {
            printf("# start %u: block of rank %u for %u, byte %zu of %zu\n",
                   start, from, to, i, bytes);
            return false;
        }
    return true;
}

static inline const void *send_of(const struct scene *s,
                                  dcoll_collective_t what, bool in_place)
{
    if (what == DCOLL_BCAST)
        return NULL;
    return in_place ? DCOLL_IN_PLACE : s->send;
}

/* A call of this algorithm; false: it refuses that. */
static inline bool scene_call(const struct scene *s, const dcoll_algorithm_t *a,
                              size_t bytes, unsigned root, bool in_place,
                              dcoll_call_t *c)
{
    *c = (dcoll_call_t){
        .collective = a->collective,
        .send = send_of(s, a->collective, in_place),
        .recv = s->recv,
        .bytes = bytes,
        .root = root,
        .algorithm = a->name,
        .reduction = reduction_for(a, dcoll_team_shape(s->team)),
    };
    /* only the root is in place */
    if (in_place && s->r->rank != root &&
        (a->collective == DCOLL_GATHER || a->collective == DCOLL_REDUCE))
        c->send = s->send;
    if (in_place && a->collective == DCOLL_SCATTER) {
        c->send = s->send;
        if (s->r->rank == root)
            c->recv = DCOLL_IN_PLACE;
    }
    dcoll_args_t args = {.collective = a->collective,
                         .commutes = true,
                         .in_place = c->send == DCOLL_IN_PLACE};
    return !dcoll_refusal(a, dcoll_team_shape(s->team), &args);
}

/* Fills the buffers before a start. In an all-gather, all ranks' blocks count
 * as blocks for rank 0. */
static inline void give(struct scene *s, const dcoll_call_t *c, unsigned start)
{
    unsigned me = s->r->rank, n = s->r->size;
    bool in_place = c->send == DCOLL_IN_PLACE;
    memset(s->recv, 0xee, n * c->bytes + ROOM);
    switch (c->collective) {
    case DCOLL_GATHER:
    case DCOLL_ALLGATHER:
        fill(in_place ? s->recv + me * c->bytes : s->send, start, me, 0,
             c->bytes);
        break;
    case DCOLL_REDUCE:
    case DCOLL_ALLREDUCE:
    case DCOLL_SCAN:
    case DCOLL_EXSCAN:
        fill(in_place ? s->recv : s->send, start, me, 0, c->bytes);
        break;
    case DCOLL_ALLTOALL:
    case DCOLL_SCATTER:
    case DCOLL_REDUCE_SCATTER_BLOCK:
        for (unsigned to = 0; to < n; to++)
            fill((in_place ? s->recv : s->send) + to * c->bytes, start, me, to,
                 c->bytes);
        break;
    case DCOLL_BCAST:
        if (me == c->root)
            fill(s->recv, start, me, 0, c->bytes);
        break;
    default:
        break;
    }
}

static inline bool got(struct scene *s, const dcoll_call_t *c, unsigned start)
{
    unsigned me = s->r->rank, n = s->r->size;
    size_t end = c->bytes;
    bool ok = true;
    switch (c->collective) {
    case DCOLL_GATHER:
    case DCOLL_ALLGATHER:
        end = n * c->bytes;
        if (c->collective == DCOLL_GATHER && me != c->root)
            return true;
        for (unsigned from = 0; from < n; from++)
            ok = ok &&
                 holds(s->recv + from * c->bytes, start, from, 0, c->bytes);
        break;
    case DCOLL_ALLTOALL:
        end = n * c->bytes;
        for (unsigned from = 0; from < n; from++)
            ok = ok &&
                 holds(s->recv + from * c->bytes, start, from, me, c->bytes);
        break;
    case DCOLL_SCATTER:
        if (c->recv == DCOLL_IN_PLACE)
            return holds(s->send + me * c->bytes, start, me, me, c->bytes);
        ok = holds(s->recv, start, c->root, me, c->bytes);
        break;
    case DCOLL_REDUCE:
        if (me != c->root)
            return true;
        /* fall through */
    case DCOLL_ALLREDUCE:
    case DCOLL_SCAN:
        ok = holds_combined(s, start, c);
        break;
    case DCOLL_EXSCAN: /* rank 0 in place keeps what it has */
        if (me == 0 && c->send != DCOLL_IN_PLACE)
            end = 0;
        else
            ok = holds_combined(s, start, c);
        break;
    case DCOLL_REDUCE_SCATTER_BLOCK:
        ok = holds_combined(s, start, c);
        if (c->send != DCOLL_IN_PLACE)
            break;
        end = n * c->bytes; /* the other blocks stay */
        for (unsigned to = 1; to < n; to++)
            ok = ok && holds(s->recv + to * c->bytes, start, me, to, c->bytes);
        break;
    case DCOLL_BCAST:
        ok = holds(s->recv, start, c->root, 0, c->bytes);
        break;
    default:
        end = 0;
    }
    for (unsigned i = 0; i < ROOM; i++)
        ok = ok && s->recv[end + i] == 0xee;
    return ok;
}

#endif
