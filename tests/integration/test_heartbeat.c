/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cable drops everything, and no end is told. The ranks notice and go on over
 * the other rail. A stopped rank is silent on all rails: that is no loss.
 */
#include <signal.h>

#include "failover.h"
#include "tests/cable.h"

#define SILENCE_MS 100

#define SLOW "ultra24-a0", "ultra24-a1" /* rails of 2000 MB/s, … */
#define LEFT 6                          /* … thousandths of which are left */
#define LONG (8u << 20)                 /* six times that time */

static cable_t cable;   /* of the first rail */
static cable_t slow[2]; /* of the slow ones */

/* In memory that the ranks share. */
static _Atomic pid_t *stopped;

static void use_mute(struct rank *r, bool mute)
{
    barrier(r);
    if (r->rank == 0)
        check(!cable_mute(&cable, mute));
    barrier(r);
}

static uint64_t failures(const struct rank *r)
{
    return stats_sum(r).failures;
}

static void mute_rail(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    script_run(r, &s, 1);
    use_mute(r, true);
    script_run(r, &s, 2);
    check(failures(r) == 1);
    use_mute(r, false);
    await_rails(r);
    script_run(r, &s, 3);
    check(failures(r) == 1);
    script_close(r, &s);
}

/* Work under way without an event of its own. */
static void mute_notes(struct rank *r)
{
    enum { NOTES = 4 };
    use_mute(r, true);
    for (unsigned i = 0; i < NOTES; i++)
        expect(r, 0, drail_notify(r->t, r->peer, DRAIL_ALL_RAILS, i));
    for (unsigned i = 0; i < NOTES; i++)
        await_note(r, i);
    check(failures(r) == 1);
    use_mute(r, false);
    await_rails(r);
}

static void look_for(struct rank *r, double time)
{
    for (double end = seconds() + time; seconds() < end;)
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, r->peer, NULL, 1));
}

/* Rank 1 is stopped for three times as long. */
static void stopped_peer(struct rank *r)
{
    struct memory m;
    drail_req_t req;
    memory_open(r, &m, 2 * STRIPED);
    use_mute(r, true);
    if (r->rank == 1) {
        *stopped = getpid();
        await_note(r, 7);
    } else {
        drail_xfer_t x = memory_xfer(r, &m, 2 * STRIPED);
        while (!*stopped)
            nap(1);
        check(!kill(*stopped, SIGSTOP));
        expect(r, 0,
               drail_put(r->t, 1, &x, DRAIL_NOTIFY | DRAIL_NOWAIT, 7, &req));
        look_for(r, 3 * SILENCE_MS / 1e3);
        check(stats_sum(r).up);
        kill(*stopped, SIGCONT);
        expect(r, 0, drail_wait(r->t, &req, -1));
        check(failures(r) == 1);
    }
    use_mute(r, false);
    await_rails(r);
    memory_close(r, &m);
}

/* Long work need not be silent: a put without an event, */
static void long_put(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, LONG);
    drail_xfer_t x = memory_xfer(r, &m, LONG);
    if (r->rank == 0)
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, NULL));
    look_for(r, 8 * SILENCE_MS / 1e3);
    check(stats_sum(r).up);
    memory_close(r, &m);
}

/* or a short one behind what the peer gets. */
static void long_get(struct rank *r)
{
    struct memory m;
    drail_req_t req;
    memory_open(r, &m, LONG);
    drail_xfer_t x = memory_xfer(r, &m, r->rank == 0 ? 8 : LONG);
    if (r->rank == 1)
        expect(r, 0, drail_get(r->t, 0, &x, DRAIL_NOWAIT, &req));
    barrier(r);
    if (r->rank == 0)
        expect(r, 0, drail_put(r->t, 1, &x, DRAIL_NOTIFY, 1, &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
    if (r->rank == 1)
        await_note(r, 1);
    check(stats_sum(r).up);
    memory_close(r, &m);
}

static void threaded(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void slow_rails(drail_config_t *cfg)
{
    use_rails(cfg, SLOW);
    cfg->engine = DRAIL_ENGINE_SINGLE;
}

static const struct test tests[] = {
    {"a mute rail", 2, mute_rail, nonthreaded, 0},
    {"a mute rail, threads", 2, mute_rail, threaded, 0},
    {"notifications on a mute rail", 2, mute_notes, nonthreaded, 0},
    {"a peer that is stopped", 2, stopped_peer, nonthreaded, 0},
    {"a long put", 2, long_put, slow_rails, 0},
    {"a long get", 2, long_get, slow_rails, 0},
};

int main(int argc, char **argv)
{
    static const char *const names[] = {SLOW};
    const char *folder = cables_folder();
    char ms[16];
    snprintf(ms, sizeof ms, "%d", SILENCE_MS);
    setenv("DRAIL_SILENCE_MS", ms, 1);
    stopped = shared_memory(sizeof *stopped);
    check(folder);
    check(!cable_grasp(&cable, folder, "shm0"));
    for (unsigned i = 0; i < 2; i++)
        check(!cable_grasp(&slow[i], folder, names[i]) &&
              !cable_slow(&slow[i], LEFT));
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
