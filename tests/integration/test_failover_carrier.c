/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Breaks that come one upon another: that of the rail which carries what
 * another one has lost, of the new connection of the first, at both ends at
 * once; and that of the last one, which ends it.
 */
#include "failover.h"

#define RAILS 3

/* So many breaks, each so many DTOs after the one before, on this rail. */
static void arm(unsigned rail, unsigned after)
{
    cut.left[rail] = after;
}

/* Rail 0 breaks at a DTO, rail 1, which carries for it, some DTOs later. */
static void carrier(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    for (unsigned k = 0; k < 24; k++) {
        cut.after = k % 2;
        if (r->rank == k % 3 % 2) {
            arm(0, k / 2);
            arm(1, k % 5);
        }
        script_run(r, &s, 1 + 2 * k);
        cut.left[0] = cut.left[1] = CUT_NEVER;
        script_run(r, &s, 2 + 2 * k);
        if (k % 4 == 3) /* else the next break finds what it finds */
            await_rails(r);
    }
    await_rails(r);
    check(stats_sum(r).failures > 10 && stats_sum(r).carried);
    script_close(r, &s);
}

/* The two ends lose different rails. */
static void both_ends(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    for (unsigned k = 0; k < 24; k++) {
        cut.after = k % 2;
        arm(r->rank, k / 2);
        script_run(r, &s, 1 + 2 * k);
        cut.left[0] = cut.left[1] = CUT_NEVER;
        await_rails(r);
    }
    check(stats_sum(r).failures > 10);
    script_close(r, &s);
}

/* All break: both ends hear of it soon. */
static void last_one(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, STRIPED);
    drail_xfer_t x = memory_xfer(r, &m, STRIPED);
    int rc = 0;
    for (unsigned i = 0; i < RAILS; i++)
        arm(i, r->rank == 0 ? 3 + i : CUT_NEVER);
    double begin = seconds();
    while (!rc) {
        rc = drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, 1, NULL);
        if (!rc)
            rc = drail_notify_wait(r->t, r->peer, NULL, -1);
    }
    expect(r, DRAIL_EPEER, rc);
    check(seconds() - begin < 10);
    expect(r, DRAIL_EPEER, drail_fence(r->t, r->peer));
    check(!stats_sum(r).up);
    barrier(r);
    /* and can be connected anew */
    for (unsigned i = 0; i < RAILS; i++)
        arm(i, CUT_NEVER);
    expect(r, 0, drail_connect(r->t, r->peer));
    expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, 2, NULL));
    await_note(r, 2);
    memory_close(r, &m);
}

static void three(drail_config_t *cfg)
{
    take_rails(cfg, RAILS);
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void three_threaded(drail_config_t *cfg)
{
    three(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void three_two(drail_config_t *cfg)
{
    three(cfg);
    cfg->eps = 2;
    cfg->notify_by = DRAIL_NOTIFY_BY_SEND;
}

static const struct test tests[] = {
    {"the carrier, too", 2, carrier, three, 0},
    {"the carrier, too, threads", 2, carrier, three_threaded, 0},
    {"the carrier, too, two EPs", 2, carrier, three_two, 0},
    {"another at each end", 2, both_ends, three, 0},
    {"another at each end, two EPs", 2, both_ends, three_two, 0},
    {"all", 2, last_one, three, 0},
    {"all, threads", 2, last_one, three_threaded, 0},
};

RUN_TESTS(tests)
