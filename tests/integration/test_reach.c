/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that only some of the rails reach: whatever engine, policy and size,
 * nothing goes to them over the others, and everything arrives. Sets what is
 * otherwise found out when the transport is opened.
 */
#include "dapl_rail/batch.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/rail.h"

#include "ranks.h"

#define RAILS 3
#define BYTES (1u << 17)

/* Rails between two ranks: one is not the first, one has two, one all. */
static uint32_t between(unsigned a, unsigned b)
{
    static const uint32_t masks[] = {[1] = 6, [2] = 4, [3] = 7};
    return masks[a + b];
}

struct bench {
    unsigned char *bytes;
    drail_mem_t *mem;
    drail_key_t keys[3];
};

static void reach(struct rank *r, struct bench *b)
{
    for (unsigned p = 0; p < r->size; p++) {
        if (p == r->rank)
            continue;
        drail_fence(r->t, p); /* so that it is met */
        struct peer *peer = r->t->peers[p];
        peer_take(peer, peer->inside = between(p, r->rank));
    }
    r->t->common = 4;
    for (unsigned p = 0; p < r->size; p++)
        if (p != r->rank)
            expect(r, 0, drail_connect(r->t, p));
    expect(r, 0,
           drail_mem_alloc(r->t, 4 * BYTES, DRAIL_ACCESS_ALL,
                           (void **)&b->bytes, &b->mem));
    exchange_keys(r, b->mem, b->keys);
}

/* The operations on each rail. */
static void tallies(struct rank *r, uint64_t *of)
{
    for (unsigned i = 0; i < RAILS; i++) {
        drail_rail_stats_t s;
        drail_rail_stats(r->t, i, &s);
        check(s.up);
        of[i] = s.put_bytes + s.get_bytes + s.sends + s.puts;
    }
}

static unsigned char value(unsigned n, unsigned from, size_t at)
{
    return (unsigned char)(n + 7 * from + at);
}

static void fill(unsigned char *bytes, unsigned n, unsigned from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = value(n, from, i);
}

static void compare(const unsigned char *bytes, unsigned n, unsigned from,
                    size_t size)
{
    for (size_t i = 0; i < size; i++)
        check(bytes[i] == value(n, from, i));
}

/* Quarters of the memory: what is sent, puts, gets and messages that come. */
static void talk(struct rank *r, struct bench *b, unsigned peer, unsigned n,
                 size_t size)
{
    static const unsigned flags[] = {DRAIL_NOTIFY,
                                     DRAIL_NOTIFY | DRAIL_ALL_RAILS,
                                     DRAIL_NOTIFY | DRAIL_ON_RAIL(0)};
    unsigned char *put = b->bytes + BYTES, *got = put + BYTES,
                  *sent = got + BYTES;
    bool active = r->rank < peer;
    drail_xfer_t x = {.local = b->bytes,
                      .local_mem = b->mem,
                      .remote = &b->keys[peer],
                      .remote_offset = BYTES,
                      .bytes = size};
    drail_req_t req;
    drail_batch_t batch = {
        .xfer = x, .count = n % 4, .id = n, .await_reply = true};
    uint32_t id;
    size_t received;
    fill(b->bytes, n, r->rank, size);
    expect(r, 0, drail_put(r->t, peer, &x, flags[n % 3], n, &req));
    expect(r, 0, drail_notify_wait(r->t, peer, &id, -1));
    check(id == n);
    compare(put, n, peer, size);
    expect(r, 0, drail_wait(r->t, &req, -1));
    /* the peer's bytes stay until it is answered */
    x = (drail_xfer_t){.local = got,
                       .local_mem = b->mem,
                       .remote = &b->keys[peer],
                       .bytes = size};
    expect(r, 0, drail_get(r->t, peer, &x, DRAIL_ON_RAIL(0), &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
    compare(got, n, peer, size);
    if (active) {
        expect(r, 0, drail_send(r->t, peer, b->bytes, size, b->mem));
        expect(r, 0, drail_batch(r->t, peer, &batch));
        check(batch.reply_id == n + 1);
    } else {
        expect(r, 0, drail_recv(r->t, peer, sent, BYTES, &received, -1));
        check(received == size);
        compare(sent, n, peer, size);
        expect(r, 0, drail_batch_answer(r->t, peer, true, n + 1, &id));
        check(id == n);
    }
}

/* Each pair apart, so that what a rail has done is that pair's. */
static void each_pair(struct rank *r)
{
    static const size_t sizes[] = {0, 8, 3000, 16384, 100000};
    struct bench b;
    reach(r, &b);
    for (unsigned pair = 0; pair < 3; pair++) {
        unsigned low = pair == 2, high = pair ? 2 : 1;
        uint64_t before[RAILS], after[RAILS];
        tallies(r, before);
        for (unsigned n = 0; n < 100 && (r->rank == low || r->rank == high);
             n++) {
            expect(r, 0,
                   drail_set_engine(r->t, (drail_engine_t)(n / 5 % 4),
                                    DRAIL_TEAM_RESIDENT));
            expect(r, 0,
                   drail_set_policy(r->t, (drail_policy_t)(n / 20 % 5), NULL,
                                    n % RAILS));
            talk(r, &b, r->rank == low ? high : low, n, sizes[n % 5]);
        }
        tallies(r, after);
        uint32_t rails = between(low, high);
        for (unsigned i = 0; i < RAILS; i++)
            if (r->rank != low && r->rank != high)
                check(after[i] == before[i]);
            else
                check((after[i] > before[i]) == (rails >> i & 1));
        barrier(r);
    }
    expect(r, 0, drail_mem_release(b.mem));
}

enum { PUTS = 10 };

/* Rank 0 puts to rank 1 over the named rail. Sets what each rail has carried.
 */
static void put_short(struct rank *r, struct bench *b, unsigned rail,
                      uint64_t carried[RAILS])
{
    uint64_t before[RAILS];
    tallies(r, before);
    for (unsigned n = 0; n < PUTS && r->rank == 0; n++) {
        drail_xfer_t x = {.local = b->bytes,
                          .local_mem = b->mem,
                          .remote = &b->keys[1],
                          .bytes = 8};
        expect(r, 0, drail_put(r->t, 1, &x, DRAIL_ON_RAIL(rail), 0, NULL));
        expect(r, 0, drail_fence(r->t, 1));
    }
    tallies(r, carried);
    for (unsigned i = 0; i < RAILS; i++)
        carried[i] -= before[i];
}

/* Rails that reach the peer make up for a rail that does not. */
static void in_turn(struct rank *r)
{
    struct bench b;
    uint64_t carried[RAILS];
    reach(r, &b);
    expect(
        r, 0,
        drail_set_engine(r->t, DRAIL_ENGINE_NONTHREADED, DRAIL_TEAM_RESIDENT));
    put_short(r, &b, 0, carried);
    for (unsigned i = 1; i < RAILS && r->rank == 0; i++)
        check(carried[i] == PUTS / 2 * (8 + 1));
    put_short(r, &b, RAILS - 1, carried);
    for (unsigned i = 0; i < RAILS && r->rank == 0; i++)
        check(carried[i] == (i == RAILS - 1 ? PUTS * (8 + 1) : 0));
    /* also of puts that need two requests */
    for (unsigned i = 0; i < RAILS; i++)
        r->t->rails[i].max_rdma = 4;
    put_short(r, &b, 0, carried);
    for (unsigned i = 1; i < RAILS && r->rank == 0; i++)
        check(carried[i] == PUTS / 2 * (8 + 1));
    barrier(r);
    expect(r, 0, drail_mem_release(b.mem));
}

/* Weights of none but rails that don't reach the peer say nothing. */
static void weights(struct rank *r)
{
    static const double first[RAILS] = {1, 0, 0};
    struct bench b;
    reach(r, &b);
    expect(
        r, 0,
        drail_set_engine(r->t, DRAIL_ENGINE_NONTHREADED, DRAIL_TEAM_RESIDENT));
    expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_WEIGHTED, first, 0));
    if (r->rank < 2)
        for (unsigned n = 0; n < 3; n++)
            talk(r, &b, 1 - r->rank, n, 100000);
    barrier(r);
    expect(r, 0, drail_mem_release(b.mem));
}

static uint64_t sends(const struct rank *r)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < RAILS; i++) {
        drail_rail_stats_t s;
        drail_rail_stats(r->t, i, &s);
        sum += s.sends;
    }
    return sum;
}

/* Over the rail that all share, else by message. */
static void atomics(struct rank *r)
{
    enum { N = 300 };
    struct bench b;
    uint64_t *word;
    reach(r, &b);
    for (unsigned way = 0; way < 2; way++) {
        uint64_t before = sends(r);
        r->t->common = way ? 0 : 4;
        barrier_outside(r); /* all have that before they serve one */
        word = (uint64_t *)b.bytes + way;
        for (unsigned n = 0; n < N && r->rank; n++)
            expect(r, 0,
                   drail_atomic(r->t, 0, DRAIL_FETCH_ADD, &b.keys[0], 8 * way,
                                1, 0, NULL));
        bool by_message = way || !drail_rail_at(r->t, 2)->has_atomics;
        check(drail_serves_atomics(r->t) == by_message);
        if (r->rank) {
            check((sends(r) - before >= N) == by_message);
            expect(r, 0, drail_notify(r->t, 0, 0, 0));
        }
        for (unsigned p = 1; p < r->size && !r->rank; p++)
            expect(r, 0, drail_notify_wait(r->t, p, NULL, -1));
        if (r->rank == 0)
            check(__atomic_load_n(word, __ATOMIC_SEQ_CST) == 2 * N);
        barrier(r);
    }
    expect(r, 0, drail_mem_release(b.mem));
}

static void three(drail_config_t *cfg)
{
    take_rails(cfg, RAILS);
    cfg->stripe_threshold = 8192;
}

static void three_of_two(drail_config_t *cfg)
{
    three(cfg);
    cfg->eps = 2;
}

static const struct test tests[] = {
    {"each pair", 3, each_pair, three, APART},
    {"each pair, two EPs", 3, each_pair, three_of_two, APART},
    {"in turn", 3, in_turn, three, APART},
    {"weights", 3, weights, three, APART},
    {"atomics", 3, atomics, three, APART},
};

RUN_TESTS(tests)
