/* SPDX-License-Identifier: BSD-3-Clause */
/* Data of every size over every engine, team, policy and number of rails. */
#include "ranks.h"

#define CAPACITY (3u << 20)
#define GUARD    256u
#define MAX_N    4u

static const size_t sizes[] = {
    0,       1,
    7,       8,
    9,       63,
    64,      65,
    127,     4095,
    4096,    4097,
    16383,   16384,
    16385,   65535,
    65536,   65537,
    1000003, (1 << 20) - 1,
    1 << 20, (1 << 20) + 1,
};
#define NSIZES (sizeof sizes / sizeof sizes[0])
#define NLONG  4u
#define NSHORT (NSIZES - NLONG)

struct buffers {
    unsigned char *source, *target;
    drail_mem_t *source_mem, *target_mem;
    drail_key_t keys[2];
};

static void fill(struct rank *r, unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)(rnd(r) >> 32);
}

/* Words, as most of the time goes into them. */
static uint64_t pattern(uint64_t seed, size_t word)
{
    uint64_t x = seed + word * 0x9e3779b97f4a7c15ull;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    return x ^ x >> 32;
}

static void paint(unsigned char *p, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t word = pattern(seed, i);
        memcpy(p + 8 * i, &word, 8);
    }
    uint64_t last = pattern(seed, bytes / 8);
    memcpy(p + bytes / 8 * 8, &last, bytes % 8);
}

static bool painted(const unsigned char *p, size_t bytes, uint64_t seed)
{
    uint64_t wrong = 0, last = pattern(seed, bytes / 8);
    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t word;
        memcpy(&word, p + 8 * i, 8);
        wrong |= word ^ pattern(seed, i);
    }
    return !wrong && !memcmp(p + bytes / 8 * 8, &last, bytes % 8);
}

static bool all_are(const unsigned char *p, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != value)
            return false;
    return true;
}

static void buffers_open(struct rank *r, struct buffers *b, bool own)
{
    if (own) {
        expect(r, 0,
               drail_mem_alloc(r->t, CAPACITY, DRAIL_ACCESS_ALL,
                               (void **)&b->source, &b->source_mem));
        expect(r, 0,
               drail_mem_alloc(r->t, CAPACITY, DRAIL_ACCESS_ALL,
                               (void **)&b->target, &b->target_mem));
    } else {
        b->source = malloc(CAPACITY);
        b->target = malloc(CAPACITY);
        check(b->source && b->target);
        expect(r, 0,
               drail_mem_register(r->t, b->source, CAPACITY, DRAIL_ACCESS_ALL,
                                  &b->source_mem));
        expect(r, 0,
               drail_mem_register(r->t, b->target, CAPACITY, DRAIL_ACCESS_ALL,
                                  &b->target_mem));
    }
    exchange_keys(r, b->target_mem, b->keys);
}

static void buffers_close(struct rank *r, struct buffers *b, bool own)
{
    barrier(r);
    expect(r, 0, drail_mem_release(b->source_mem));
    expect(r, 0, drail_mem_release(b->target_mem));
    if (!own) {
        free(b->source);
        free(b->target);
    }
}

/* Rank 0 puts, rank 1 looks at the bytes and around them, and answers. */
static void one_put(struct rank *r, struct buffers *b, size_t bytes,
                    uint64_t seed)
{
    size_t local = seed % 97, remote = GUARD + seed / 97 % 1021;
    uint32_t id = (uint32_t)seed;
    if (r->rank == 0) {
        drail_req_t req;
        drail_xfer_t x = {.local = b->source + local,
                          .local_mem = b->source_mem,
                          .remote = &b->keys[1],
                          .remote_offset = remote,
                          .bytes = bytes};
        uint32_t got;
        paint(b->source + local, bytes, seed);
        expect(
            r, 0,
            drail_put(r->t, 1, &x, DRAIL_NOTIFY, id, seed % 3 ? &req : NULL));
        if (seed % 3)
            expect(r, 0, drail_wait(r->t, &req, -1));
        else
            expect(r, 0, drail_fence(r->t, 1));
        expect(r, 0, drail_notify_wait(r->t, 1, &got, -1));
        check(got == id + 1);
    } else {
        uint32_t got;
        unsigned char *at = b->target + remote;
        expect(r, 0, drail_notify_wait(r->t, 0, &got, -1));
        check(got == id);
        check(painted(at, bytes, seed));
        check(all_are(at - GUARD, GUARD, 0xEE));
        check(all_are(at + bytes, GUARD, 0xEE));
        memset(at, 0xEE, bytes);
        expect(r, 0,
               drail_notify(r->t, 0, seed % 2 ? DRAIL_ALL_RAILS : 0, id + 1));
    }
}

static void one_get(struct rank *r, struct buffers *b, size_t bytes,
                    uint64_t seed)
{
    size_t local = GUARD + seed % 97, remote = seed / 97 % 1021;
    if (r->rank == 1) {
        paint(b->target + remote, bytes, seed);
        expect(r, 0, drail_notify(r->t, 0, 0, 1));
        expect(r, 0, drail_notify_wait(r->t, 0, NULL, -1));
        memset(b->target, 0xEE,
               CAPACITY < remote + bytes ? CAPACITY : remote + bytes);
    } else {
        drail_req_t req;
        drail_xfer_t x = {.local = b->source + local,
                          .local_mem = b->source_mem,
                          .remote = &b->keys[1],
                          .remote_offset = remote,
                          .bytes = bytes};
        memset(b->source + local - GUARD, 0xDD, bytes + 2 * GUARD);
        expect(r, 0, drail_notify_wait(r->t, 1, NULL, -1));
        expect(r, 0, drail_get(r->t, 1, &x, 0, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        check(painted(b->source + local, bytes, seed));
        check(all_are(b->source + local - GUARD, GUARD, 0xDD));
        check(all_are(b->source + local + bytes, GUARD, 0xDD));
        expect(r, 0, drail_notify(r->t, 1, 0, 2));
    }
}

/* Both ranks must draw the same numbers. */
static uint64_t shared_seed(unsigned a, unsigned b, unsigned c)
{
    uint64_t x = (a * 1000003ull + b) * 1000003ull + c + 12345;
    x *= 0x9e3779b97f4a7c15ull;
    return x ^ x >> 31;
}

/* Long ones take turns. */
static void all_sizes(struct rank *r, struct buffers *b, unsigned salt)
{
    for (unsigned i = 0; i < NSHORT; i++)
        one_put(r, b, sizes[i], shared_seed(salt, i, 1));
    one_put(r, b, sizes[NSHORT + salt % NLONG], shared_seed(salt, 0, 3));
    for (unsigned i = salt % 3; i < NSIZES; i += 3)
        one_get(r, b, sizes[i], shared_seed(salt, i, 2));
}

static void every_choice(struct rank *r, bool own)
{
    static const double uneven[MAX_N] = {1, 3, 2, 0.5};
    static const drail_policy_t policies[] = {
        DRAIL_POLICY_EVEN, DRAIL_POLICY_WEIGHTED, DRAIL_POLICY_ADAPTIVE,
        DRAIL_POLICY_ROUNDROBIN, DRAIL_POLICY_FIXED};
    struct buffers b;
    unsigned n = drail_nrails(r->t), salt = 0;
    buffers_open(r, &b, own);
    memset(b.target, 0xEE, CAPACITY);
    barrier(r);
    for (int e = DRAIL_ENGINE_SINGLE; e <= DRAIL_ENGINE_AUTO; e++)
        for (int team = 0; team < (e >= DRAIL_ENGINE_THREADED ? 2 : 1); team++)
            for (unsigned p = 0; p < 5; p++) {
                /* the other side may use another engine */
                drail_engine_t engine =
                    (drail_engine_t)(r->rank == 0 || salt % 2 ? e
                                                              : (e + 1) % 4);
                expect(r, 0,
                       drail_set_engine(r->t, engine, (drail_team_t)team));
                expect(r, 0,
                       drail_set_policy(r->t, policies[p], uneven, salt % n));
                all_sizes(r, &b, salt++);
            }
    buffers_close(r, &b, own);
}

static void own_memory(struct rank *r)
{
    every_choice(r, true);
}

static void callers_memory(struct rank *r)
{
    every_choice(r, false);
}

/* Puts in flight together, in both directions, waited for in any order. */
static void many_puts(struct rank *r)
{
    enum { N = 24, ROUNDS = 20 };
    struct buffers b;
    drail_req_t reqs[N];
    drail_xfer_t x[N];
    buffers_open(r, &b, r->rank == 0);
    for (int round = 0; round < ROUNDS; round++) {
        size_t at = 0;
        expect(r, 0,
               drail_set_engine(r->t, (drail_engine_t)(round % 4),
                                (drail_team_t)(round % 2)));
        fill(r, b.source, CAPACITY / 8);
        for (int i = 0; i < N; i++) {
            size_t bytes = sizes[rnd(r) % 16] % 30000;
            x[i] = (drail_xfer_t){.local = b.source + at,
                                  .local_mem = b.source_mem,
                                  .remote = &b.keys[r->peer],
                                  .remote_offset = at,
                                  .bytes = bytes};
            at += bytes;
            expect(r, 0, drail_put(r->t, r->peer, &x[i], 0, 0, &reqs[i]));
        }
        for (int i = N - 1; i >= 0; i--)
            expect(r, 0, drail_wait(r->t, &reqs[i], -1));
        /* tell how much, so that the other side can read it back */
        expect(r, 0, drail_notify(r->t, r->peer, 0, (uint32_t)at));
        uint32_t theirs;
        expect(r, 0, drail_notify_wait(r->t, r->peer, &theirs, -1));
        expect(r, 0, drail_send(r->t, r->peer, "", 0, NULL));
        size_t none;
        expect(r, 0, drail_recv(r->t, r->peer, NULL, 0, &none, -1));
        unsigned char *back = malloc(at + 1);
        drail_mem_t *mem;
        check(back);
        expect(
            r, 0,
            drail_mem_register(r->t, back, at + 1, DRAIL_ACCESS_LOCAL, &mem));
        drail_xfer_t get = {.local = back,
                            .local_mem = mem,
                            .remote = &b.keys[r->peer],
                            .bytes = at};
        expect(r, 0, drail_get(r->t, r->peer, &get, 0, &reqs[0]));
        expect(r, 0, drail_wait(r->t, &reqs[0], -1));
        check(memcmp(back, b.source, at) == 0);
        expect(r, 0, drail_mem_release(mem));
        free(back);
        barrier(r);
    }
    buffers_close(r, &b, r->rank == 0);
}

/* A transfer must lie within its memory, local and remote. */
static void bad_transfers(struct rank *r)
{
    struct buffers b;
    buffers_open(r, &b, true);
    drail_xfer_t good = {.local = b.source,
                         .local_mem = b.source_mem,
                         .remote = &b.keys[r->peer],
                         .bytes = CAPACITY},
                 x;
    expect(r, 0, drail_put(r->t, r->peer, &good, 0, 0, NULL));
    expect(r, 0, drail_fence(r->t, r->peer));
    x = good, x.local = b.source + 1;
    expect(r, DRAIL_EINVAL, drail_put(r->t, r->peer, &x, 0, 0, NULL));
    x = good, x.local = b.source - 1, x.bytes = 1;
    expect(r, DRAIL_EINVAL, drail_put(r->t, r->peer, &x, 0, 0, NULL));
    x = good, x.remote_offset = 1;
    expect(r, DRAIL_EINVAL, drail_put(r->t, r->peer, &x, 0, 0, NULL));
    x = good, x.remote_offset = UINT64_MAX, x.bytes = 2;
    expect(r, DRAIL_EINVAL, drail_get(r->t, r->peer, &x, 0, NULL));
    x = good, x.local_mem = NULL;
    expect(r, DRAIL_EINVAL, drail_put(r->t, r->peer, &x, 0, 0, NULL));
    expect(r, DRAIL_EINVAL, drail_put(r->t, r->peer, &good, 64, 0, NULL));
    expect(r, DRAIL_EINVAL, drail_put(r->t, r->rank, &good, 0, 0, NULL));
    expect(r, DRAIL_EINVAL, drail_put(r->t, 7, &good, 0, 0, NULL));
    check(*drail_last_error(r->t));
    /* and nothing of it did harm */
    expect(r, 0, drail_put(r->t, r->peer, &good, 0, 0, NULL));
    expect(r, 0, drail_fence(r->t, r->peer));
    buffers_close(r, &b, true);
}

/* Memory without the privilege refuses the access and stays as it is. */
static void no_privilege(struct rank *r)
{
    drail_mem_t *mem;
    drail_key_t keys[2];
    unsigned char *memory;
    expect(r, 0,
           drail_mem_alloc(r->t, 4096, DRAIL_ACCESS_REMOTE_READ,
                           (void **)&memory, &mem));
    exchange_keys(r, mem, keys);
    if (r->rank == 0) {
        drail_req_t req;
        drail_xfer_t x = {.local = memory,
                          .local_mem = mem,
                          .remote = &keys[1],
                          .bytes = 4096};
        memset(memory, 1, 4096);
        int rc = drail_put(r->t, 1, &x, 0, 0, &req);
        if (!rc)
            rc = drail_wait(r->t, &req, -1);
        expect(r, DRAIL_EACCESS, rc);
        expect(r, DRAIL_EACCESS, drail_fence(r->t, 1));
    }
    barrier(r);
    if (r->rank == 1)
        check(all_are(memory, 4096, 0));
    expect(r, 0, drail_mem_release(mem));
}

static void rails1(drail_config_t *cfg)
{
    take_rails(cfg, 1);
}

static void rails2(drail_config_t *cfg)
{
    take_rails(cfg, 2);
}

static void rails3(drail_config_t *cfg)
{
    take_rails(cfg, 3);
    cfg->stripe_threshold = 64;
}

static void rails4(drail_config_t *cfg)
{
    take_rails(cfg, 4);
    cfg->stripe_threshold = 4096;
    cfg->pin = false;
}

static const struct test tests[] = {
    {"1 rail, memory of the library", 2, own_memory, rails1, 0},
    {"1 rail, memory of the caller", 2, callers_memory, rails1, 0},
    {"2 rails, memory of the library", 2, own_memory, rails2, 0},
    {"2 rails, memory of the caller", 2, callers_memory, rails2, 0},
    {"3 rails, memory of the library", 2, own_memory, rails3, 0},
    {"3 rails, memory of the caller", 2, callers_memory, rails3, 0},
    {"4 rails, memory of the library", 2, own_memory, rails4, 0},
    {"4 rails, memory of the caller", 2, callers_memory, rails4, 0},
    {"many puts in both directions", 2, many_puts, rails3, 0},
    {"bad transfers", 2, bad_transfers, rails2, 0},
    {"no privilege", 2, no_privilege, rails2, 0},
};

RUN_TESTS(tests)
