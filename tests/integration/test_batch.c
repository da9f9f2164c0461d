/* SPDX-License-Identifier: BSD-3-Clause */
/* The paper's loop body over every engine, team and policy. */
#include "dapl_rail/batch.h"
#include "ranks.h"

#define CAPACITY (2u << 20)
#define MAX_N    4u

struct buffers {
    unsigned char *source, *target;
    drail_mem_t *source_mem, *target_mem;
    drail_key_t keys[2];
};

static void buffers_open(struct rank *r, struct buffers *b)
{
    expect(r, 0,
           drail_mem_alloc(r->t, CAPACITY, DRAIL_ACCESS_ALL,
                           (void **)&b->source, &b->source_mem));
    expect(r, 0,
           drail_mem_alloc(r->t, CAPACITY, DRAIL_ACCESS_ALL,
                           (void **)&b->target, &b->target_mem));
    exchange_keys(r, b->target_mem, b->keys);
}

static void buffers_close(struct rank *r, struct buffers *b)
{
    barrier(r);
    expect(r, 0, drail_mem_release(b->source_mem));
    expect(r, 0, drail_mem_release(b->target_mem));
}

static unsigned char value_of(unsigned n)
{
    return (unsigned char)(n * 37 + 1);
}

static bool all_are(const unsigned char *p, size_t bytes, unsigned char value)
{
    return bytes == 0 || (p[0] == value && memcmp(p, p + 1, bytes - 1) == 0);
}

static drail_batch_t batch_of(struct rank *r, const struct buffers *b,
                              size_t bytes, unsigned count, uint32_t id)
{
    return (drail_batch_t){
        .xfer = {.local = b->source,
                 .local_mem = b->source_mem,
                 .remote = &b->keys[r->peer],
                 .bytes = bytes},
        .count = count,
        .id = id,
        .await_reply = true,
    };
}

static const size_t sizes[] = {0,     1,     8,     512,    4096,
                               16383, 16384, 65536, 1 << 20};
static const unsigned counts[] = {1, 20, 5, 0, 700};
#define NSIZES  (sizeof sizes / sizeof sizes[0])
#define NCOUNTS (sizeof counts / sizeof counts[0])

static void account_check(struct rank *r, const drail_batch_t *b)
{
    uint64_t bytes = 0, cpu = 0;
    for (unsigned i = 0; i < DRAIL_MAX_RAILS; i++) {
        bytes += b->per_rail[i].bytes;
        cpu += b->per_rail[i].cpu_ns;
        if (i >= drail_nrails(r->t))
            check(b->per_rail[i].bytes == 0 && b->per_rail[i].cpu_ns == 0);
    }
    check(bytes == b->account * b->count * b->xfer.bytes);
    check(!b->account || cpu > 0);
}

static void one_way(struct rank *r, struct buffers *b, unsigned n)
{
    size_t bytes = sizes[n % NSIZES];
    unsigned count = bytes > 100000 ? 20 : counts[n / NSIZES % NCOUNTS];
    if (r->rank == 0) {
        drail_batch_t batch = batch_of(r, b, bytes, count, n);
        batch.account = n % 2;
        batch.await_reply = n % 5 != 4;
        memset(b->source, value_of(n), bytes);
        expect(r, 0, drail_batch(r->t, 1, &batch));
        account_check(r, &batch);
        if (batch.await_reply)
            check(batch.reply_id == n + 1);
    } else {
        uint32_t id;
        memset(b->target, 0, bytes + 64);
        /* the target is cleared before the writes come */
        barrier(r);
        expect(r, 0, drail_batch_answer(r->t, 0, n % 5 != 4, n + 1, &id));
        check(id == n);
        check(!count || all_are(b->target, bytes, value_of(n)));
        check(all_are(b->target + bytes, 64, 0));
        return;
    }
}

static void every_choice(struct rank *r)
{
    static const double uneven[MAX_N] = {1, 3, 2, 0.5};
    struct buffers b;
    unsigned nr = drail_nrails(r->t), choice = 0;
    buffers_open(r, &b);
    for (int e = DRAIL_ENGINE_SINGLE; e <= DRAIL_ENGINE_AUTO; e++)
        for (int team = 0; team < (e >= DRAIL_ENGINE_THREADED ? 2 : 1); team++)
            for (int p = 0; p < 5; p++, choice++) {
                drail_engine_t engine =
                    (drail_engine_t)(r->rank == 0 || choice % 2 ? e
                                                                : (e + 1) % 4);
                expect(r, 0,
                       drail_set_engine(r->t, engine, (drail_team_t)team));
                expect(r, 0,
                       drail_set_policy(r->t, (drail_policy_t)p, uneven,
                                        choice % nr));
                for (unsigned n = 0; n < NSIZES * 2; n++) {
                    if (r->rank == 0)
                        barrier(r);
                    one_way(r, &b, choice * 1000 + n + choice % NCOUNTS * 9);
                }
            }
    buffers_close(r, &b);
}

/* Both at once: each waits for the other's notification, and both answer. */
static void both_ways(struct rank *r)
{
    struct buffers b;
    buffers_open(r, &b);
    for (unsigned n = 0; n < 300; n++) {
        uint32_t id;
        size_t bytes = sizes[n % 8];
        drail_batch_t batch = batch_of(r, &b, bytes, 20, n);
        expect(r, 0,
               drail_set_engine(r->t, (drail_engine_t)(n % 3),
                                (drail_team_t)(n / 3 % 2)));
        memset(b.source, value_of(n), bytes);
        /* the peer's batch notification is what this one waits for */
        expect(r, 0, drail_batch(r->t, r->peer, &batch));
        check(batch.reply_id == n);
        check(all_are(b.target, bytes, value_of(n)));
        expect(r, 0, drail_notify(r->t, r->peer, DRAIL_ALL_RAILS, n));
        expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
        check(id == n);
    }
    buffers_close(r, &b);
}

/* Batches, puts and messages may follow each other without a pause. */
static void mixed(struct rank *r)
{
    struct buffers b;
    buffers_open(r, &b);
    for (unsigned n = 0; n < 200; n++) {
        unsigned char word[8];
        size_t got;
        uint32_t id;
        if (r->rank == 0) {
            drail_batch_t batch = batch_of(r, &b, 40000, 3, n);
            drail_xfer_t x = batch.xfer;
            x.bytes = 100;
            batch.await_reply = n % 2;
            expect(r, 0, drail_put(r->t, 1, &x, DRAIL_NOTIFY, n + 7, NULL));
            expect(r, 0, drail_batch(r->t, 1, &batch));
            expect(r, 0, drail_send(r->t, 1, &n, sizeof n, NULL));
            expect(r, 0, drail_recv(r->t, 1, word, 8, &got, -1));
        } else {
            expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
            check(id == n + 7);
            expect(r, 0, drail_batch_answer(r->t, 0, n % 2, n, &id));
            check(id == n);
            expect(r, 0, drail_recv(r->t, 0, word, 8, &got, -1));
            check(got == 4 && memcmp(word, &n, 4) == 0);
            expect(r, 0, drail_send(r->t, 0, word, 8, NULL));
        }
    }
    buffers_close(r, &b);
}

/* Adaptive weights settle, and make up one. */
static void adaptive_stats(struct rank *r)
{
    struct buffers b;
    buffers_open(r, &b);
    expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_ADAPTIVE, NULL, 0));
    for (unsigned n = 0; n < 100; n++) {
        if (r->rank == 0) {
            drail_req_t req;
            drail_batch_t batch = batch_of(r, &b, 1 << 20, 2, n);
            expect(r, 0, drail_put(r->t, 1, &batch.xfer, 0, 0, &req));
            expect(r, 0, drail_wait(r->t, &req, -1));
            expect(r, 0, drail_batch(r->t, 1, &batch));
        } else {
            expect(r, 0, drail_batch_answer(r->t, 0, true, 0, NULL));
        }
    }
    if (r->rank == 0) {
        double sum = 0;
        uint64_t bytes = 0;
        for (unsigned i = 0; i < drail_nrails(r->t); i++) {
            drail_rail_stats_t s;
            drail_rail_stats(r->t, i, &s);
            /* whether a rail is worth it, depends on the machine */
            check(s.up && s.measured_MBps > 1 && s.weight >= 0);
            check(s.busy_ns > 0 && s.puts > 0);
            sum += s.weight;
            bytes += s.put_bytes;
        }
        check(sum > 0.999 && sum < 1.001);
        check(bytes == 300ull << 20);
    }
    buffers_close(r, &b);
}

static void rails4(drail_config_t *cfg)
{
    take_rails(cfg, 4);
    cfg->stripe_threshold = 512;
}

static void rails1(drail_config_t *cfg)
{
    cfg->nrails = 1;
}

static void shallow(drail_config_t *cfg)
{
    cfg->depth = 4;
}

static const struct test tests[] = {
    {"1 rail", 2, every_choice, rails1, 0},
    {"2 rails", 2, every_choice, NULL, 0},
    {"4 rails", 2, every_choice, rails4, 0},
    {"2 rails, shallow queues", 2, every_choice, shallow, 0},
    {"both ways, 2 rails", 2, both_ways, NULL, 0},
    {"both ways, 4 rails", 2, both_ways, rails4, 0},
    {"mixed with puts and messages", 2, mixed, NULL, 0},
    {"mixed, shallow", 2, mixed, shallow, 0},
    {"adaptive weights", 2, adaptive_stats, NULL, 0},
};

RUN_TESTS(tests)
