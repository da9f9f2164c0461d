/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections over TCP break under load at random DTOs of both ends, reads in
 * mid-answer among them: all that is moved arrives once, in order and whole.
 */
#include "conf.h"
#include "failover.h"

#define RAILS   3
#define SECONDS 1
#define LOSSES  3 /* at least, of each end */

static const char lines[] = RAIL_OF("ofi", "tcp-a", "device=lo")
    RAIL_OF("ofi", "tcp-b", "device=lo") RAIL_OF("ofi", "tcp-c", "device=lo");

/* The last rail stays, whatever both ends draw. */
static void break_something(struct rank *r)
{
    unsigned rail = (unsigned)(rnd(r) % (RAILS - 1));
    if (cut.left[rail] != CUT_NEVER)
        return;
    cut.after = rnd(r) % 2;
    cut.left[rail] = (unsigned)(rnd(r) % 20);
}

/* Until both have lost enough; asked in calls that help the other rank. */
static bool goes_on(struct rank *r, double end)
{
    bool mine = seconds() < end || stats_sum(r).failures < LOSSES, other;
    expect(r, 0, drail_send(r->t, r->peer, &mine, sizeof mine, NULL));
    expect(r, 0, drail_recv(r->t, r->peer, &other, sizeof other, NULL, -1));
    return mine || other;
}

static void under_load(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    double end = seconds() + SECONDS, late = seconds() + 60;
    for (unsigned turn = 0; goes_on(r, end); turn++) {
        break_something(r);
        script_run(r, &s, turn);
        check(seconds() < late);
    }
    for (unsigned i = 0; i < RAILS; i++)
        cut.left[i] = CUT_NEVER;
    await_rails(r);
    script_close(r, &s);
}

static void three(drail_config_t *cfg)
{
    static const char *const names[RAILS] = {"tcp-a", "tcp-b", "tcp-c"};
    for (unsigned i = 0; i < RAILS; i++)
        cfg->rails[i] = names[i];
    cfg->nrails = RAILS;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void threaded(drail_config_t *cfg)
{
    three(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static const struct test tests[] = {
    {"one thread", 2, under_load, three, 0},
    {"a thread for each rail", 2, under_load, threaded, 0},
};

int main(int argc, char **argv)
{
    if (!conf_has_ofi()) {
        printf("1..0 # skipped: there is no libfabric here\n");
        return 77;
    }
    conf_restart(argv, lines);
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
