/* SPDX-License-Identifier: BSD-3-Clause */
/* That a put may travel with its notification, but can't over these rails, does
 * not cost it its turn. */
#include "memory.h"

#define PUTS 8u

static void in_turn(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 64);
    drail_xfer_t x = memory_xfer(r, &m, 8);
    for (unsigned n = 0; n < PUTS; n++)
        if (r->rank == 0)
            expect(r, 0,
                   drail_put(r->t, 1, &x, DRAIL_NOTIFY | DRAIL_EAGER, n, NULL));
        else
            expect(r, 0, drail_notify_wait(r->t, 0, NULL, -1));
    for (unsigned i = 0; i < 2 && r->rank == 0; i++) {
        drail_rail_stats_t s;
        drail_rail_stats(r->t, i, &s);
        check(s.puts == PUTS / 2);
    }
    memory_close(r, &m);
}

static void roundrobin(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->policy = DRAIL_POLICY_ROUNDROBIN;
}

static const struct test tests[] = {
    {"rails in turn", 2, in_turn, roundrobin, 0},
};

RUN_TESTS(tests)
