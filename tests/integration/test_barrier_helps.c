/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link is lost under a put while the other rank waits in a job's barrier: it
 * helps, so that the put goes over the other rail.
 */
#include "failover.h"

static void lost_meanwhile(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 8);
    both_have_read(r, 1);
    if (r->rank == 0) {
        drail_req_t req;
        drail_xfer_t x = memory_xfer(r, &m, 8);
        cut.left[0] = 0;
        expect(r, 0, drail_put(r->t, 1, &x, DRAIL_ON_RAIL(0), 0, &req));
        cut.left[0] = CUT_NEVER;
        check(cut.cuts == 1);
        expect(r, 0, drail_wait(r->t, &req, -1));
    }
    barrier(r);
    await_rails(r);
    memory_close(r, &m);
}

/* Without help, the wait ends soon. */
static void impatient(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->timeout_ms = 5000;
}

static const struct test tests[] = {
    {"lost while the other is in a barrier", 2, lost_meanwhile, impatient, 0},
};

RUN_TESTS(tests)
