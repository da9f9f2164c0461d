/* SPDX-License-Identifier: BSD-3-Clause */
/* An attempt to reconnect a lost link is over, but its EP does not come back.
 * Links that are lost meanwhile go on. */
#include "failover.h"
#include "hello_said.h"
#include "hold.h"

static unsigned rejected;

/* From then on nothing is told of that rail. */
static void taken(DAT_EVENT *event)
{
    if (event->event_number != DAT_CONNECTION_EVENT_NON_PEER_REJECTED)
        return;
    rejected++;
    hold.rail[0] = true;
}

/* The first one again goes where nobody listens. */
static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual)
{
    if (hello->reconnect && !rejected)
        *qual = 1;
    return true;
}

static void another_breaks(struct rank *r)
{
    barrier(r);
    if (r->rank == 1) {
        await_note(r, 1);
        await_note(r, 2);
    } else {
        cut.left[0] = 0;
        expect(r, 0, drail_notify(r->t, 1, DRAIL_ON_RAIL(0), 1));
        for (double end = seconds() + 20; !rejected;) {
            check(seconds() < end);
            expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, 1, NULL, 1));
        }
        cut.left[1] = 0;
        expect(r, 0, drail_notify(r->t, 1, DRAIL_ON_RAIL(1), 2));
        check(cut.cuts == 2);
    }
    both_have_read(r, 3);
    check(r->rank == 1 || (hold.rail[0] && cut.eps[0])); /* not yet freed */
    hold.rail[0] = false;
    await_rails(r);
}

static void three(drail_config_t *cfg)
{
    take_rails(cfg, 3);
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static const struct test tests[] = {
    {"another breaks meanwhile", 2, another_breaks, three, 0},
};

RUN_TESTS(tests)
