/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages, notifications, credits, atomics, the registration cache. */
#include <pthread.h>

#include "ranks.h"

#define SOON 15 /* seconds: not when the default timeout of 30 ends */

static void paint(unsigned char *p, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)((seed + i * 2654435761u) >> 7);
}

static bool painted(const unsigned char *p, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != (unsigned char)((seed + i * 2654435761u) >> 7))
            return false;
    return true;
}

/* ---------------------------------------------------------- send, receive */

static const size_t lengths[] = {0,    1,    8,     63,    4095,  4096,
                                 4097, 8192, 65536, 65537, 999999};
#define NLENGTHS (sizeof lengths / sizeof lengths[0])

static void send_recv(struct rank *r)
{
    unsigned char *buffer = malloc(1 << 20);
    check(buffer != NULL);
    for (unsigned round = 0; round < 15; round++) {
        expect(r, 0,
               drail_set_policy(r->t, (drail_policy_t)(round % 5), NULL,
                                round % 2));
        expect(r, 0,
               drail_set_engine(r->t, (drail_engine_t)(round % 3),
                                DRAIL_TEAM_RESIDENT));
        for (unsigned i = 0; i < NLENGTHS; i++) {
            uint64_t seed = round * 100 + i;
            size_t bytes = lengths[i], got = 77;
            if (r->rank == round % 2) {
                paint(buffer, bytes, seed);
                expect(r, 0, drail_send(r->t, r->peer, buffer, bytes, NULL));
            } else {
                memset(buffer, 0, bytes);
                expect(r, 0,
                       drail_recv(r->t, r->peer, buffer, 1 << 20, &got, -1));
                check(got == bytes);
                check(painted(buffer, bytes, seed));
            }
        }
    }
    free(buffer);
}

/* Many short ones pile up before they are received, in order. */
static void order(struct rank *r)
{
    expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_ROUNDROBIN, NULL, 0));
    for (unsigned i = 0; i < 20000; i++) {
        unsigned value[25] = {0};
        size_t got;
        if (r->rank == 0) {
            value[0] = i;
            expect(r, 0, drail_send(r->t, 1, value, 4 + i % 90, NULL));
        } else {
            expect(r, 0, drail_recv(r->t, 0, value, sizeof value, &got, -1));
            check(got == 4 + i % 90 && value[0] == i);
            if (i % 4000 == 0)
                nap(20);
        }
    }
}

static void truncation(struct rank *r)
{
    unsigned char buffer[10000];
    size_t got;
    if (r->rank == 0) {
        memset(buffer, 1, sizeof buffer);
        expect(r, 0, drail_send(r->t, 1, buffer, 100, NULL));
        expect(r, 0, drail_send(r->t, 1, buffer, 10000, NULL));
        expect(r, 0, drail_send(r->t, 1, buffer, 5, NULL));
    } else {
        memset(buffer, 2, sizeof buffer);
        expect(r, DRAIL_ETRUNC, drail_recv(r->t, 0, buffer, 99, &got, -1));
        check(got == 100 && buffer[0] == 2);
        expect(r, DRAIL_ETRUNC, drail_recv(r->t, 0, buffer, 9999, &got, -1));
        check(got == 10000 && buffer[0] == 2);
        expect(r, 0, drail_recv(r->t, 0, buffer, 5, &got, -1));
        check(got == 5 && buffer[4] == 1 && buffer[5] == 2);
        expect(r, DRAIL_EAGAIN, drail_recv(r->t, 0, buffer, 5, &got, 0));
    }
}

/* A sender's own registration spares one; it must allow reading. */
static void registered_send(struct rank *r)
{
    unsigned char *memory;
    drail_mem_t *mem, *local;
    size_t bytes = 300000, got;
    expect(r, 0,
           drail_mem_alloc(r->t, bytes, DRAIL_ACCESS_REMOTE_READ,
                           (void **)&memory, &mem));
    if (r->rank == 0) {
        drail_cache_stats_t before, after;
        paint(memory, bytes, 3);
        drail_cache_stats(r->t, &before);
        expect(r, 0, drail_send(r->t, 1, memory + 3, bytes - 5, mem));
        drail_cache_stats(r->t, &after);
        check(after.misses == before.misses);
        expect(r, DRAIL_EINVAL, drail_send(r->t, 1, memory + 6, bytes, mem));
        unsigned char *plain = malloc(bytes);
        expect(
            r, 0,
            drail_mem_register(r->t, plain, bytes, DRAIL_ACCESS_LOCAL, &local));
        expect(r, DRAIL_EINVAL, drail_send(r->t, 1, plain, bytes, local));
        expect(r, 0, drail_mem_release(local));
        free(plain);
    } else {
        unsigned char *plain = malloc(bytes);
        expect(r, 0, drail_recv(r->t, 0, plain, bytes, &got, -1));
        check(got == bytes - 5);
        paint(memory, bytes, 3);
        check(memcmp(plain, memory + 3, got) == 0);
        free(plain);
    }
    expect(r, 0, drail_mem_release(mem));
}

/* ---------------------------------------------------------- notifications */

/* 10,000 notifications to a peer that does not listen for a while. */
static void credits(struct rank *r)
{
    unsigned n = 10000;
    if (r->rank == 0) {
        for (unsigned i = 0; i < n; i++)
            expect(r, 0, drail_notify(r->t, 1, i % 3 ? DRAIL_ALL_RAILS : 0, i));
    } else {
        nap(300);
        for (unsigned i = 0; i < n; i++) {
            uint32_t id;
            expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
            check(id == i);
        }
        expect(r, DRAIL_EAGAIN, drail_notify_wait(r->t, 0, NULL, 0));
    }
}

/* Both sides at once, each listening only now and then. */
static void credits_both_ways(struct rank *r)
{
    unsigned sent = 0, got = 0, n = 20000;
    while (sent < n || got < n) {
        if (sent < n && sent < got + 50) {
            expect(r, 0,
                   drail_notify(r->t, r->peer, sent % 2 ? DRAIL_ALL_RAILS : 0,
                                sent));
            sent++;
        } else {
            uint32_t id;
            expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
            check(id == got);
            got++;
        }
    }
}

/* Without any listener the call ends with its timeout. */
static void no_listener(struct rank *r)
{
    if (r->rank == 0) {
        double begin = seconds();
        int rc = 0;
        for (unsigned i = 0; !rc && i < 10000; i++)
            rc = drail_notify(r->t, 1, 0, i);
        expect(r, DRAIL_ETIMEOUT, rc);
        check(seconds() - begin < SOON);
    }
    barrier(r);
}

static void short_timeout(drail_config_t *cfg)
{
    cfg->timeout_ms = 300;
}

static void waits_end(struct rank *r)
{
    double begin = seconds();
    expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, r->peer, NULL, 200));
    double took = seconds() - begin;
    check(took > 0.15 && took < SOON);
    begin = seconds();
    expect(r, DRAIL_ETIMEOUT, drail_recv(r->t, r->peer, NULL, 0, NULL, 100));
    check(seconds() - begin < SOON);
}

static void *interrupter(void *arg)
{
    nap(200);
    drail_interrupt(arg);
    return NULL;
}

static void interruption(struct rank *r)
{
    pthread_t thread;
    double begin = seconds();
    pthread_create(&thread, NULL, interrupter, r->t);
    expect(r, DRAIL_EINTR, drail_notify_wait(r->t, r->peer, NULL, 20000));
    check(seconds() - begin < SOON);
    pthread_join(thread, NULL);
    expect(r, DRAIL_EINTR, drail_notify_wait(r->t, r->peer, NULL, 20000));
}

/* All to all: every rank with every other, connected in different orders. */
static void many_peers(struct rank *r)
{
    for (unsigned round = 0; round < 200; round++) {
        for (unsigned k = 1; k < r->size; k++)
            expect(r, 0,
                   drail_notify(r->t, (r->rank + k) % r->size,
                                round % 2 ? DRAIL_ALL_RAILS : 0,
                                round * 100 + r->rank));
        for (unsigned k = 1; k < r->size; k++) {
            unsigned from = (r->rank + r->size - k) % r->size;
            uint32_t id;
            expect(r, 0, drail_notify_wait(r->t, from, &id, -1));
            check(id == round * 100 + from);
        }
    }
}

/* ---------------------------------------------------------------- atomics */

static void atomics(struct rank *r)
{
    enum { N = 2000 };
    uint64_t *memory, old, seen = 0;
    drail_mem_t *mem;
    drail_key_t keys[8];
    expect(r, 0,
           drail_mem_alloc(r->t, 64, DRAIL_ACCESS_ALL, (void **)&memory, &mem));
    exchange_keys(r, mem, keys);
    barrier(r);
    if (r->rank != 0) {
        for (unsigned i = 0; i < N; i++) {
            expect(r, 0,
                   drail_atomic(r->t, 0, DRAIL_FETCH_ADD, &keys[0], 0, 3, 0,
                                &old));
            check(old >= seen && old % 3 == 0);
            seen = old + 3;
        }
        /* a lock-free counter by compare and swap */
        for (unsigned i = 0; i < N / 10; i++) {
            uint64_t value = 0;
            for (;;) {
                expect(r, 0,
                       drail_atomic(r->t, 0, DRAIL_CMP_SWAP, &keys[0], 8,
                                    value + 1, value, &old));
                if (old == value)
                    break;
                value = old;
            }
        }
        expect(r, DRAIL_EINVAL,
               drail_atomic(r->t, 0, DRAIL_FETCH_ADD, &keys[0], 4, 1, 0, &old));
        expect(r, 0, drail_notify(r->t, 0, 0, 1));
    } else {
        /* its own memory, too, beside the others */
        for (unsigned i = 0; i < N; i++)
            expect(r, 0,
                   drail_atomic(r->t, 0, DRAIL_FETCH_ADD, &keys[0], 0, 3, 0,
                                NULL));
        keys[0].rmr_context[0] ^= 1;
        expect(r, DRAIL_EACCESS,
               drail_atomic(r->t, 0, DRAIL_FETCH_ADD, &keys[0], 0, 3, 0, NULL));
        for (unsigned p = 1; p < r->size; p++)
            expect(r, 0, drail_notify_wait(r->t, p, NULL, -1));
        check(memory[0] == 3ull * N * r->size);
        check(memory[1] == N / 10ull * (r->size - 1));
        check(memory[2] == 0);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static void by_message(drail_config_t *cfg)
{
    setenv("DRAIL_EXTENSIONS", "0", 1);
}

/* Memory without DRAIL_ACCESS_REMOTE_ATOMIC refuses them. */
static void atomics_refused(struct rank *r)
{
    uint64_t *memory, old;
    drail_mem_t *mem;
    drail_key_t keys[2];
    expect(r, 0,
           drail_mem_alloc(r->t, 64, DRAIL_ACCESS_REMOTE_WRITE,
                           (void **)&memory, &mem));
    exchange_keys(r, mem, keys);
    if (r->rank == 1) {
        expect(r, DRAIL_EACCESS,
               drail_atomic(r->t, 0, DRAIL_FETCH_ADD, &keys[0], 0, 1, 0, &old));
    } else {
        /* serves the message; a refused extension breaks the connection */
        int rc = drail_notify_wait(r->t, 1, NULL, 300);
        check(rc == DRAIL_EPEER || rc == DRAIL_ETIMEOUT);
    }
    barrier(r);
    check(r->rank != 0 || memory[0] == 0);
    expect(r, 0, drail_mem_release(mem));
}

/* ------------------------------------------------------ registration cache */

static void cache(struct rank *r)
{
    enum { N = 70 };
    drail_cache_stats_t s;
    drail_mem_t *a, *b, *kept[N];
    size_t page = 4096;
    unsigned char *m = mmap(NULL, N * page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(m != MAP_FAILED);
    drail_cache_stats_t start;
    drail_cache_stats(r->t, &start);

    /* a live registration serves local access to what it covers */
    expect(r, 0, drail_mem_register(r->t, m, 8 * page, DRAIL_ACCESS_LOCAL, &a));
    expect(r, 0,
           drail_mem_register(r->t, m + 100, page, DRAIL_ACCESS_LOCAL, &b));
    drail_cache_stats(r->t, &s);
    check(s.hits == start.hits + 1 && s.misses == start.misses + 1);
    drail_key_t key;
    drail_mem_key(b, &key);
    check(key.address == (uintptr_t)m + 100 && key.bytes == page);
    expect(r, 0, drail_mem_release(a));
    expect(r, 0, drail_mem_release(b));
    drail_cache_stats(r->t, &s);
    check(s.kept == start.kept);

    /* without the promise to keep it, release has deregistered it */
    expect(r, 0, drail_mem_register(r->t, m, 8 * page, DRAIL_ACCESS_ALL, &a));
    expect(r, 0, drail_mem_release(a));
    drail_cache_stats(r->t, &s);
    check(s.misses == start.misses + 2);

    /* with it, it is found again */
    for (int i = 0; i < 3; i++) {
        expect(r, 0,
               drail_mem_register(r->t, m, page,
                                  DRAIL_ACCESS_LOCAL | DRAIL_ACCESS_KEEP, &a));
        expect(r, 0, drail_mem_release(a));
    }
    drail_cache_stats(r->t, &s);
    check(s.misses == start.misses + 3 && s.kept == 1);

    /* and no more than 64 are kept, the oldest leave first */
    for (unsigned i = 0; i < N; i++)
        expect(r, 0,
               drail_mem_register(r->t, m + i * page, page, DRAIL_ACCESS_KEEP,
                                  &kept[i]));
    for (unsigned i = 0; i < N; i++)
        expect(r, 0, drail_mem_release(kept[i]));
    drail_cache_stats(r->t, &s);
    check(s.kept == 64 && s.evictions == N - 64);

    expect(r, DRAIL_EINVAL, drail_mem_register(r->t, m, 0, 0, &a));
    expect(r, DRAIL_EINVAL, drail_mem_register(r->t, NULL, 1, 0, &a));
    expect(r, DRAIL_EINVAL, drail_mem_register(r->t, m, SIZE_MAX, 0, &a));
    expect(r, DRAIL_EINVAL, drail_mem_register(r->t, m, 1, 64, &a));
    check(drail_mem_release(NULL) == DRAIL_EINVAL);
}

static void shallow(drail_config_t *cfg)
{
    cfg->depth = 4;
    cfg->eager_bytes = 100;
}

static void no_eager(drail_config_t *cfg)
{
    cfg->eager_bytes = 0;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static const struct test tests[] = {
    {"send and receive", 2, send_recv, NULL, 0},
    {"send and receive, shallow", 2, send_recv, shallow, 0},
    {"send and receive, all rendezvous", 2, send_recv, no_eager, 0},
    {"order of messages", 2, order, NULL, 0},
    {"order of messages, shallow", 2, order, shallow, 0},
    {"truncation", 2, truncation, NULL, 0},
    {"registered send", 2, registered_send, NULL, 0},
    {"credits", 2, credits, NULL, 0},
    {"credits, shallow", 2, credits, shallow, 0},
    {"credits both ways", 2, credits_both_ways, NULL, 0},
    {"no listener", 2, no_listener, short_timeout, 0},
    {"waits end", 2, waits_end, NULL, 0},
    {"interruption", 2, interruption, NULL, 0},
    {"many peers", 5, many_peers, NULL, 0},
    {"atomics", 4, atomics, NULL, 0},
    {"atomics by message", 4, atomics, by_message, 0},
    {"atomics refused", 2, atomics_refused, NULL, 0},
    {"atomics by message refused", 2, atomics_refused, by_message, 0},
    {"registration cache", 2, cache, NULL, 0},
};

RUN_TESTS(tests)
