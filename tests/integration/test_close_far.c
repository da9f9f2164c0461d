/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closing waits for what is under way, also for questions whether the peer is
 * there. On rails whose messages take longer than the time between two
 * questions, these must end when there is nothing to be asked for.
 */
#include "conf.h"
#include "ranks.h"

#define FAR     "rate=500 latency=100000"
#define CLOSE_S 3 /* a few ways of 0.1 s */
static const char rails[] = RAIL("far0", FAR) RAIL("far1", FAR);

static void closes(struct rank *r)
{
    uint32_t id;
    expect(r, 0, drail_notify(r->t, r->peer, 7, 0));
    expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
    barrier(r);
    double begun = seconds();
    check(!drail_close(r->t));
    r->t = NULL;
    check(seconds() - begun < CLOSE_S);
}

static void far(drail_config_t *cfg)
{
    use_rails(cfg, "far0", "far1");
}

static const struct test tests[] = {
    {"closes", 2, closes, far, 0},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), 1, tests)
