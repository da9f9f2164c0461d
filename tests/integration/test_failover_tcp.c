/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections over TCP break under load at random DTOs of both ends, reads in
 * mid-answer among them: all that is moved arrives once, in order and whole.
 */
#include "conf.h"
#include "failover.h"

#define RAILS   3
#define SECONDS 1

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

/* Rank 0 says so to the other one, which hears it in a call that helps. */
static bool goes_on(struct rank *r, double end)
{
    bool on = seconds() < end;
    if (r->rank == 0)
        expect(r, 0, drail_send(r->t, r->peer, &on, sizeof on, NULL));
    else
        expect(r, 0, drail_recv(r->t, r->peer, &on, sizeof on, NULL, -1));
    return on;
}

static void under_load(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    double end = seconds() + SECONDS;
    for (unsigned turn = 0; goes_on(r, end); turn++) {
        break_something(r);
        script_run(r, &s, turn);
    }
    for (unsigned i = 0; i < RAILS; i++)
        cut.left[i] = CUT_NEVER;
    await_rails(r);
    check(stats_sum(r).failures > 2);
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
