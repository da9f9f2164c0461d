/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A put that is complete is not written again, even if its link is lost before
 * a later message: its source may have other contents by then, and its target
 * is the peer's.
 */
#include "cut.h"
#include "memory.h"
#include "rails_up.h"

#define BYTES   64u
#define SECONDS 0.5

static void await_loss(struct rank *r)
{
    double end = seconds() + SECONDS;
    while (seconds() < end)
        expect(r, 0, drail_progress(r->t));
    await_rails_up(r);
}

static void reused(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, BYTES);
    if (r->rank == 0) {
        memset(m.bytes, 1, BYTES);
        memory_put(r, &m, BYTES);
        memset(m.bytes, 2, BYTES);
    }
    barrier(r);
    if (r->rank == 1) {
        check(m.bytes[0] == 1);
        memset(m.bytes, 3, BYTES);
    }
    barrier(r);
    if (r->rank == 0)
        dat_ep_disconnect(cut.eps[0], DAT_CLOSE_ABRUPT_FLAG);
    await_loss(r);
    check(rail_stats(r, 0).failures == 1);
    barrier(r);
    check(m.bytes[0] == 2 + r->rank);
    memory_close(r, &m);
}

static void plain(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->policy = DRAIL_POLICY_EVEN;
}

static void single(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->engine = DRAIL_ENGINE_SINGLE;
}

static const struct test tests[] = {
    {"nonthreaded", 2, reused, plain, 0},
    {"single", 2, reused, single, 0},
};

RUN_TESTS_AFTER(cut.direct = true, 1, tests)
