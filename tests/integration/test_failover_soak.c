/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails that break at random moments and come back, at both ends, under puts
 * that are not waited for one by one: every block comes once, in order and
 * whole. The number drawn first is told, and can be given.
 */
#include <sys/random.h>

#include "failover.h"

#define RAILS 3
#define BLOCKS                                                                 \
    8u /* under way in each direction: with answers, half of depth             \
        */
#define BLOCK   (24u << 10)
#define SECONDS 4

struct soak {
    struct memory m;
    uint32_t sent, come, taken; /* blocks: put, arrived, known to be taken */
};

static uint64_t seed;

static unsigned char *block(const struct soak *s, bool theirs, uint32_t n)
{
    return s->m.bytes + (theirs * BLOCKS + n % BLOCKS) * BLOCK;
}

static size_t length(uint32_t n)
{
    static const size_t lengths[] = {1, 8, 700, 5000, 17000, BLOCK};
    return lengths[n * 2654435761u % 6];
}

/* Puts a block where the peer has taken the one before. */
static void put_next(struct rank *r, struct soak *s)
{
    unsigned char *from = block(s, false, s->sent);
    fill(from, length(s->sent), s->sent + r->rank);
    drail_xfer_t x = {.local = from,
                      .local_mem = s->m.mem,
                      .remote = &s->m.keys[r->peer],
                      .remote_offset =
                          (uint64_t)(block(s, true, s->sent) - s->m.bytes),
                      .bytes = length(s->sent)};
    expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, 2 * s->sent, NULL));
    s->sent++;
}

/* Takes a block, which this rank answers, or such an answer. */
static void take(struct rank *r, struct soak *s, uint32_t id)
{
    if (id % 2) {
        check(id / 2 == s->taken);
        s->taken++;
        return;
    }
    check(id / 2 == s->come);
    verify(block(s, true, s->come), length(s->come), s->come + r->peer);
    expect(r, 0, drail_notify(r->t, r->peer, 0, 2 * s->come + 1));
    s->come++;
}

static void break_something(struct rank *r)
{
    unsigned rail = (unsigned)(rnd(r) % RAILS);
    /* one that is up is left, also where both ends do this at once */
    if (rail == RAILS - 1 || cut.left[rail] != CUT_NEVER)
        return;
    cut.after = rnd(r) % 2;
    cut.left[rail] = (unsigned)(rnd(r) % 40);
}

static void soak(struct rank *r)
{
    struct soak s = {0};
    r->rng ^= seed;
    memory_open(r, &s.m, 2 * BLOCKS * BLOCK);
    double end = seconds() + SECONDS;
    uint32_t id, last[2];
    while (seconds() < end) {
        if (rnd(r) % 200 == 0)
            break_something(r);
        while (s.sent - s.taken < BLOCKS && rnd(r) % 8)
            put_next(r, &s);
        int rc = drail_notify_wait(r->t, r->peer, &id, 1);
        if (rc != DRAIL_ETIMEOUT) {
            expect(r, 0, rc);
            take(r, &s, id);
        }
    }
    for (unsigned i = 0; i < RAILS; i++)
        cut.left[i] = CUT_NEVER;
    /* how many come, is told by message */
    expect(r, 0, drail_send(r->t, r->peer, &s.sent, sizeof s.sent, NULL));
    expect(r, 0, drail_recv(r->t, r->peer, &last[0], sizeof last[0], NULL, -1));
    while (s.come != last[0] || s.taken != s.sent) {
        expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
        take(r, &s, id);
    }
    await_rails(r);
    drail_rail_stats_t sum = stats_sum(r);
    printf("# rank %u: %u blocks, %u breaks of ours, %lu links lost, %lu DTOs "
           "again, %lu over others\n",
           r->rank, s.sent, cut.cuts, (unsigned long)sum.failures,
           (unsigned long)sum.retries, (unsigned long)sum.carried);
    fflush(stdout);
    check(sum.failures > 2);
    memory_close(r, &s.m);
}

static void three(drail_config_t *cfg)
{
    take_rails(cfg, RAILS);
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->depth = 32;
}

static void threaded(drail_config_t *cfg)
{
    three(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static const struct test tests[] = {
    {"soak", 2, soak, three, 0},
    {"soak, threads", 2, soak, threaded, 0},
};

int main(int argc, char **argv)
{
    const char *given = getenv("SEED");
    if (given)
        seed = strtoull(given, NULL, 0);
    else if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return 1;
    printf("# SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
