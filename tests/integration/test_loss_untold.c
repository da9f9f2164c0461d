/* SPDX-License-Identifier: BSD-3-Clause */
/* The last link breaks before the counts of two lost links are sent over it:
 * what is under way ends. */
#include "failover.h"

static void all_break(struct rank *r)
{
    cut.refuses = true;
    barrier(r);
    if (r->rank == 0) {
        for (unsigned rail = 0; rail < 2; rail++) {
            cut.left[rail] = 0;
            expect(r, 0, drail_notify(r->t, 1, DRAIL_ON_RAIL(rail), rail));
        }
        check(cut.cuts == 2);
        cut.left[2] = 0; /* where the counts go */
    }
    int rc = drail_notify_wait(r->t, r->peer, NULL, -1);
    expect(r, DRAIL_EPEER, rc);
    check(cut.cuts == (r->rank == 0 ? 3 : 0));
    expect(r, DRAIL_EPEER, drail_fence(r->t, r->peer));
}

static void three(drail_config_t *cfg)
{
    take_rails(cfg, 3);
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static const struct test tests[] = {{"all break", 2, all_break, three, 0}};

RUN_TESTS(tests)
