/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short messages to a rank that does not receive: half of the depth may be sent
 * at any time; beyond what there are credits for, the wait is bounded.
 */
#include "ranks.h"

#define DEPTH 8u

static void send_to(struct rank *r, unsigned n)
{
    expect(r, 0, drail_send(r->t, r->peer, &n, sizeof n, NULL));
}

static void receive(struct rank *r, unsigned want)
{
    unsigned n;
    expect(r, 0, drail_recv(r->t, r->peer, &n, sizeof n, NULL, -1));
    check(n == want);
}

/* Whatever was sent and received before, and though nothing goes back that
 * could bring credits along. */
static void half_of_the_depth(struct rank *r)
{
    for (unsigned round = 0; round < 200; round++) {
        unsigned n = 1 + round % (DEPTH / 2);
        for (unsigned i = 0; r->rank == 0 && i < n; i++)
            send_to(r, i);
        barrier(r);
        for (unsigned i = 0; r->rank == 1 && i < n; i++)
            receive(r, i);
        barrier(r);
    }
}

/* Both send and nobody receives: what was sent until then is not lost. */
static void both_beyond(struct rank *r)
{
    unsigned sent = 0;
    int rc;
    while (!(rc = drail_send(r->t, r->peer, &sent, sizeof sent, NULL)))
        check(++sent <= DEPTH);
    expect(r, DRAIL_ETIMEOUT, rc);
    check(sent >= DEPTH / 2);
    barrier(r);
    for (unsigned i = 0; i < sent; i++)
        receive(r, i);
    barrier(r);
    send_to(r, 77);
    receive(r, 77);
}

static void shallow(drail_config_t *cfg)
{
    take_rails(cfg, 1);
    cfg->depth = DEPTH;
    cfg->timeout_ms = 1000;
}

static const struct test tests[] = {
    {"half of the depth", 2, half_of_the_depth, shallow, 0},
    {"both beyond their credits", 2, both_beyond, shallow, 0},
};

RUN_TESTS(tests)
