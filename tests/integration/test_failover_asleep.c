/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * While links are lost, nobody sleeps long: what goes on with them is told by
 * events that wake no one who waits for DTOs. The provider is asked how long,
 * not the clock.
 */
#include "failover.h"

#define LONGEST_US 1000u

static drail_t *transport;
static unsigned naps, longest; /* while a rail is not up; microseconds */

STAND_IN DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT us,
                                 DAT_COUNT threshold, DAT_EVENT *event,
                                 DAT_COUNT *more)
{
    drail_rail_stats_t stats;
    drail_rail_stats(transport, 0, &stats);
    if (!stats.up) {
        naps++;
        longest = (unsigned)us > longest ? (unsigned)us : longest;
    }
    return real(dat_evd_wait)(evd, us, threshold, event, more);
}

static void waits(struct rank *r)
{
    transport = r->t;
    barrier_outside(r); /* all of the break is met in the waits */
    if (r->rank == 0)
        cut.left[0] = 0;
    for (uint32_t id = 0; id < 20; id++) {
        expect(r, 0, drail_notify(r->t, r->peer, 0, id));
        await_note(r, id);
    }
    /* so that it sleeps until the rail is up */
    for (double end = seconds() + 20; !stats_sum(r).up;) {
        check(seconds() < end);
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, r->peer, NULL, 200));
    }
    barrier(r);
    printf("# rank %u: %u naps, the longest of %u us\n", r->rank, naps,
           longest);
    check(naps && longest <= LONGEST_US);
}

static void two_eps(drail_config_t *cfg)
{
    take_rails(cfg, 1);
    cfg->eps = 2;
}

static void two_rails(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static const struct test tests[] = {
    {"one rail, two EPs", 2, waits, two_eps, 0},
    {"two rails", 2, waits, two_rails, 0},
};

RUN_TESTS(tests)
