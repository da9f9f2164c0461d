/* SPDX-License-Identifier: BSD-3-Clause */
/* Short messages hear of settings that change, though they are not timed. */
#include "memory.h"
#include "ranks.h"

static uint64_t puts_over(const struct rank *r, unsigned rail)
{
    return rail_stats(r, rail).puts;
}

/* A put of 8 bytes goes over this rail. */
static void goes_over(struct rank *r, const struct memory *b, unsigned rail)
{
    drail_req_t req;
    drail_xfer_t x = memory_xfer(r, b, 8);
    uint64_t before[] = {puts_over(r, 0), puts_over(r, 1)};
    expect(r, 0, drail_put(r->t, r->peer, &x, 0, 0, &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
    for (unsigned i = 0; i < 2; i++)
        check(puts_over(r, i) - before[i] == (i == rail));
}

static void settings(struct rank *r)
{
    static const drail_engine_t engines[] = {
        DRAIL_ENGINE_AUTO, DRAIL_ENGINE_SINGLE, DRAIL_ENGINE_NONTHREADED,
        DRAIL_ENGINE_THREADED};
    struct memory b;
    memory_open(r, &b, 64);
    for (unsigned i = 0; r->rank == 0 && i < 4; i++) {
        expect(r, 0, drail_set_engine(r->t, engines[i], DRAIL_TEAM_RESIDENT));
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_FIXED, NULL, 1));
        goes_over(r, &b, 1);
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_FIXED, NULL, 0));
        goes_over(r, &b, 0);
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_EVEN, NULL, 1));
        goes_over(r, &b, engines[i] == DRAIL_ENGINE_SINGLE);
    }
    memory_close(r, &b);
}

static void weights(struct rank *r)
{
    static const double second[] = {0, 1}, first[] = {1, 0};
    struct memory b;
    memory_open(r, &b, 64);
    if (r->rank == 0) {
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_WEIGHTED, second, 0));
        goes_over(r, &b, 1);
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_WEIGHTED, first, 0));
        goes_over(r, &b, 0);
    }
    memory_close(r, &b);
}

static void with_auto(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->engine = DRAIL_ENGINE_AUTO;
}

static const struct test tests[] = {
    {"engines and policies", 2, settings, with_auto, 0},
    {"weights", 2, weights, with_auto, 0},
};

RUN_TESTS(tests)
