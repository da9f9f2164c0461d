/* SPDX-License-Identifier: BSD-3-Clause */
/* Over wires, short messages in a row take all rails; one at a time stays on
 * the first. */
#include "dapl_rail/base/handle.h"
#include "dapl_rail/batch.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "memory.h"
#include "over_tcp.h"

#define RAILS 3u
#define SHORT 8192u
#define MANY  36u
#define TURNS 50u

/* Messages and puts of this rank, since the last call, by rail. */
static void count(const struct rank *r, uint64_t moved[RAILS])
{
    static uint64_t before[RAILS]; /* a rank is a process */
    for (unsigned i = 0; i < RAILS; i++) {
        drail_rail_stats_t s;
        drail_rail_stats(r->t, i, &s);
        moved[i] = s.sends + s.puts - before[i];
        before[i] = s.sends + s.puts;
    }
}

static void stays(const struct rank *r)
{
    uint64_t moved[RAILS];
    count(r, moved);
    check(moved[0] >= TURNS && moved[1] == 0 && moved[2] == 0);
}

static void spreads(const struct rank *r)
{
    uint64_t moved[RAILS];
    count(r, moved);
    for (unsigned i = 0; i < RAILS && r->rank == 0; i++)
        check(moved[i] >= MANY / RAILS / 2);
}

static void sends(struct rank *r)
{
    static unsigned char bytes[SHORT];
    for (unsigned n = 0; n < 2 * TURNS; n++) {
        if (n % 2 == r->rank)
            expect(r, 0, drail_send(r->t, r->peer, bytes, SHORT, NULL));
        else
            expect(r, 0, drail_recv(r->t, r->peer, bytes, SHORT, NULL, -1));
    }
    stays(r);
    for (unsigned n = 0; n < MANY; n++) {
        bytes[0] = bytes[SHORT - 1] = (unsigned char)n;
        if (r->rank == 0) {
            expect(r, 0, drail_send(r->t, 1, bytes, SHORT, NULL));
        } else {
            if (!n)
                barrier_outside(r);
            bytes[0] = 255;
            expect(r, 0, drail_recv(r->t, 0, bytes, SHORT, NULL, -1));
            check(bytes[0] == n && bytes[SHORT - 1] == n);
        }
    }
    if (r->rank == 0)
        barrier_outside(r);
    spreads(r);
}

/* A transfer of SHORT bytes; counting begins. */
static drail_xfer_t begin(struct rank *r, struct memory *m)
{
    uint64_t ignored[RAILS];
    memory_open(r, m, SHORT);
    count(r, ignored);
    return memory_xfer(r, m, SHORT);
}

static void notified_puts(struct rank *r)
{
    struct memory m;
    drail_xfer_t x = begin(r, &m);
    for (unsigned n = 0; n < 2 * TURNS; n++) {
        if (n % 2 == r->rank)
            expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, n, NULL));
        else
            expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
    }
    stays(r);
    memory_close(r, &m);
}

static void puts_in_a_row(struct rank *r)
{
    struct memory m;
    drail_req_t req[MANY];
    drail_xfer_t x = begin(r, &m);
    for (unsigned n = 0; n < MANY && r->rank == 0; n++)
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, &req[n]));
    for (unsigned n = 0; n < MANY && r->rank == 0; n++)
        expect(r, 0, drail_wait(r->t, &req[n], -1));
    spreads(r);
    memory_close(r, &m);
}

/* Also if long messages are faster over one rail. */
static void puts_without_requests(struct rank *r)
{
    struct memory m;
    drail_xfer_t x = begin(r, &m);
    r->t->timing->untimed.rails = RAIL_BIT(0);
    for (unsigned n = 0; n < MANY && r->rank == 0; n++)
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, NULL));
    expect(r, 0, drail_fence(r->t, r->peer));
    spreads(r);
    memory_close(r, &m);
}

static void batch(struct rank *r)
{
    struct memory m;
    drail_batch_t b = {
        .xfer = begin(r, &m), .count = MANY, .await_reply = true};
    if (r->rank == 0)
        expect(r, 0, drail_batch(r->t, 1, &b));
    else
        expect(r, 0, drail_batch_answer(r->t, 0, true, 0, NULL));
    spreads(r);
    memory_close(r, &m);
}

static void of(drail_config_t *cfg, drail_policy_t policy)
{
    static const char *const names[RAILS] = {"tcp-a", "tcp-b", "tcp-c"};
    memcpy(cfg->rails, names, sizeof names);
    cfg->nrails = RAILS;
    cfg->engine = DRAIL_ENGINE_AUTO;
    cfg->policy = policy;
}

static void even(drail_config_t *cfg)
{
    of(cfg, DRAIL_POLICY_EVEN);
}

static void adaptive(drail_config_t *cfg)
{
    of(cfg, DRAIL_POLICY_ADAPTIVE);
}

static const struct test tests[] = {
    {"sends", 2, sends, even, 0},
    {"sends, adaptive", 2, sends, adaptive, 0},
    {"puts with a notification stay", 2, notified_puts, even, 0},
    {"puts", 2, puts_in_a_row, even, 0},
    {"puts without requests", 2, puts_without_requests, even, 0},
    {"a batch", 2, batch, even, 0},
    {"a batch, adaptive", 2, batch, adaptive, 0},
};

RUN_TESTS_OVER_TCP(tests)
