/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of rails. */
#include "failover.h"

/* A provider that refuses a DTO, as the connection is gone, before it tells so:
 * that DTO was not posted before. */
static void refused(struct rank *r)
{
    barrier(r); /* both are connected */
    cut.refuses = true;
    if (r->rank == 0) {
        cut.left[0] = 0;
        for (uint32_t id = 0; !cut.cuts; id++)
            expect(r, 0, drail_notify(r->t, 1, 0, id));
        expect(r, 0, drail_notify(r->t, 1, 0, UINT32_MAX));
    } else {
        uint32_t id = 0;
        for (uint32_t next = 0; id != UINT32_MAX; next++) {
            expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
            check(id == next || id == UINT32_MAX);
        }
    }
    await_rails(r);
    drail_rail_stats_t sum = stats_sum(r);
    check(sum.failures == 1 && sum.retries == 0);
    check(r->rank == 1 || sum.carried > 0);
}

/* A peer that goes is no failure of rails. */
static void closed(struct rank *r)
{
    if (r->rank == 1) {
        drail_close(r->t);
        r->t = NULL;
        return;
    }
    expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 1, NULL, -1));
    check(!stats_sum(r).up && stats_sum(r).failures == 0);
}

/* A rail that breaks while the peer lives on is counted. */
static void broken(struct rank *r)
{
    barrier(r);
    cut.left[0] = r->rank == 0 ? 0 : CUT_NEVER;
    for (uint32_t id = 0; id < 8; id++) {
        expect(r, 0, drail_notify(r->t, r->peer, 0, id));
        await_note(r, id);
    }
    await_rails(r);
    check(stats_sum(r).failures == 1);
}

static const struct test tests[] = {
    {"a DTO that is refused", 2, refused, nonthreaded, 0},
    {"a peer that closes", 2, closed, nonthreaded, 0},
    {"a connection that breaks", 2, broken, nonthreaded, 0},
};

RUN_TESTS(tests)
