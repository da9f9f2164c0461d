/* SPDX-License-Identifier: BSD-3-Clause */
/* A key grants its range and its access, whatever is registered round it. */
#include "ranks.h"

#define WHOLE 16384u
#define FROM  1000u /* of the part that is granted */
#define PART  9000u /* by rendezvous */

struct memory {
    unsigned char *at;
    drail_mem_t *whole, *part;
    drail_key_t keys[2]; /* of the parts */
};

/* A part, with this access, of memory that grants everything. */
static void memory_open(struct rank *r, struct memory *m, unsigned access)
{
    expect(r, 0,
           drail_mem_alloc(r->t, WHOLE, DRAIL_ACCESS_ALL, (void **)&m->at,
                           &m->whole));
    expect(r, 0,
           drail_mem_register(r->t, m->at + FROM, PART, access, &m->part));
    exchange_keys(r, m->part, m->keys);
}

static void memory_close(struct rank *r, struct memory *m)
{
    barrier(r);
    expect(r, 0, drail_mem_release(m->part));
    expect(r, 0, drail_mem_release(m->whole));
}

/* Rank 0 writes to rank 1 by a key; what comes of it. */
static int write_by(struct rank *r, struct memory *m, const drail_key_t *key,
                    size_t bytes)
{
    drail_req_t req;
    drail_xfer_t x = {
        .local = m->at, .local_mem = m->whole, .remote = key, .bytes = bytes};
    memset(m->at, 1, bytes);
    int rc = drail_put(r->t, 1, &x, 0, 0, &req);
    return rc ? rc : drail_wait(r->t, &req, -1);
}

static unsigned count_ones(const struct memory *m)
{
    unsigned n = 0;
    for (unsigned i = 0; i < WHOLE; i++)
        n += m->at[i];
    return n;
}

static void the_part(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, DRAIL_ACCESS_REMOTE_WRITE);
    if (r->rank == 0)
        expect(r, 0, write_by(r, &m, &m.keys[1], PART));
    barrier(r);
    if (r->rank == 1)
        check(m.at[FROM] == 1 && m.at[FROM + PART - 1] == 1 &&
              count_ones(&m) == PART);
    memory_close(r, &m);
}

/* A hostile peer changes the plain data of its key. */
static void forge(struct rank *r, uint64_t address, uint64_t bytes)
{
    struct memory m;
    memory_open(r, &m, DRAIL_ACCESS_REMOTE_WRITE);
    if (r->rank == 0) {
        drail_key_t forged = m.keys[1];
        forged.address += address;
        forged.bytes = bytes;
        expect(r, DRAIL_EACCESS, write_by(r, &m, &forged, bytes));
    }
    barrier(r);
    if (r->rank == 1)
        check(count_ones(&m) == 0);
    memory_close(r, &m);
}

static void not_behind_it(struct rank *r)
{
    forge(r, PART - 8, 16);
}

static void not_before_it(struct rank *r)
{
    forge(r, (uint64_t)-8, 16);
}

/* Rank 0 may not write by rank 1's key; then the memory is closed. */
static void is_refused(struct rank *r, struct memory *m)
{
    if (r->rank == 0)
        expect(r, DRAIL_EACCESS, write_by(r, m, &m->keys[1], PART));
    barrier(r);
    if (r->rank == 1)
        check(count_ones(m) == 0);
    memory_close(r, m);
}

static void not_other_access(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, DRAIL_ACCESS_REMOTE_READ);
    is_refused(r, &m);
}

/* Also while the memory is registered for something else. */
static void not_once_released(struct rank *r)
{
    struct memory m;
    drail_mem_t *local;
    memory_open(r, &m, DRAIL_ACCESS_REMOTE_WRITE);
    expect(r, 0,
           drail_mem_register(r->t, m.at + FROM, PART, DRAIL_ACCESS_LOCAL,
                              &local));
    expect(r, 0, drail_mem_release(m.part));
    m.part = local;
    barrier(r);
    is_refused(r, &m);
}

/* Local memory shares local registrations; its key is good for nothing. */
static void not_local_memory(struct rank *r)
{
    struct memory m;
    drail_cache_stats_t before, after;
    drail_mem_t *local;
    drail_cache_stats(r->t, &before);
    memory_open(r, &m, DRAIL_ACCESS_LOCAL);
    expect(r, 0,
           drail_mem_register(r->t, m.at + FROM + 8, 8, DRAIL_ACCESS_LOCAL,
                              &local));
    drail_cache_stats(r->t, &after);
    check(after.misses == before.misses + 2 && after.hits == before.hits + 1);
    if (r->rank == 0) {
        expect(r, DRAIL_EINVAL, write_by(r, &m, &m.keys[1], PART));
        /* and it can be no message that the peer reads */
        expect(r, DRAIL_EINVAL, drail_send(r->t, 1, m.at + FROM, PART, m.part));
    }
    expect(r, 0, drail_mem_release(local));
    memory_close(r, &m);
}

/* A user who asks for it has views of one registration. */
static void view(struct rank *r)
{
    struct memory m;
    drail_cache_stats_t before, after;
    drail_mem_t *inside, *bad;
    drail_key_t keys[2];
    memory_open(r, &m, DRAIL_ACCESS_REMOTE_WRITE);
    drail_cache_stats(r->t, &before);
    expect(r, 0, drail_mem_view(m.part, m.at + FROM + 8, 64, &inside));
    expect(r, DRAIL_EINVAL, drail_mem_view(m.part, m.at, 64, &bad));
    expect(r, DRAIL_EINVAL,
           drail_mem_view(m.part, m.at + FROM + 8, PART, &bad));
    expect(r, DRAIL_EINVAL, drail_mem_view(m.part, m.at + FROM, 0, &bad));
    check(drail_mem_view(NULL, m.at, 1, &bad) == DRAIL_EINVAL);
    drail_cache_stats(r->t, &after);
    check(after.misses == before.misses);
    /* it outlives the handle that it was made of */
    expect(r, 0, drail_mem_release(m.part));
    m.part = inside;
    exchange_keys(r, inside, keys);
    check(keys[0].bytes == 64);
    if (r->rank == 0) {
        expect(r, 0, write_by(r, &m, &keys[1], 64));
        expect(r, DRAIL_EINVAL, write_by(r, &m, &keys[1], 65));
    }
    barrier(r);
    if (r->rank == 1)
        check(m.at[FROM + 8] == 1 && count_ones(&m) == 64);
    memory_close(r, &m);
}

static const struct test tests[] = {
    {"the part that was granted", 2, the_part, NULL, 0},
    {"not what is behind it", 2, not_behind_it, NULL, 0},
    {"not what is before it", 2, not_before_it, NULL, 0},
    {"not other kinds of access", 2, not_other_access, NULL, 0},
    {"not local memory", 2, not_local_memory, NULL, 0},
    {"not once it is released", 2, not_once_released, NULL, 0},
    {"views", 2, view, NULL, 0},
};

RUN_TESTS(tests)
