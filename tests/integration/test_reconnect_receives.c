/* SPDX-License-Identifier: BSD-3-Clause */
/* The new EP of a lost link does not take its receives. A later EP does. */
#include "failover.h"

#define RECEIVES 3 /* that it takes */

static unsigned left; /* 0: all are taken */
static DAT_EP_HANDLE bad;
static bool failed, awaited; /* to come back whole */

STAND_IN DAT_RETURN dat_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *local,
                                     DAT_DTO_COOKIE cookie,
                                     DAT_COMPLETION_FLAGS flags)
{
    if (ep != cut.eps[0] || !left || --left) {
        if (ep == bad) /* another one of this name */
            bad = DAT_HANDLE_NULL;
        return real(dat_ep_post_recv)(ep, n, local, cookie, flags);
    }
    failed = true;
    bad = ep;
    return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
}

STAND_IN DAT_RETURN dat_ep_reset(DAT_EP_HANDLE ep)
{
    awaited |= ep == bad;
    return real(dat_ep_reset)(ep);
}

static void talk(struct rank *r)
{
    for (uint32_t id = 0; id < 20; id++) {
        expect(r, 0, drail_notify(r->t, r->peer, 0, id));
        await_note(r, id);
    }
}

static void refuses(struct rank *r, unsigned rank)
{
    barrier_outside(r); /* no new EP comes before it may fail */
    if (r->rank == 0)
        cut.left[0] = 0;
    if (r->rank == 0)
        expect(r, 0, drail_notify(r->t, 1, DRAIL_ON_RAIL(0), 7));
    else
        await_note(r, 7); /* over the other rail: its own is lost here, too */
    left = r->rank == rank ? 1 + RECEIVES : 0;
    talk(r);
    await_rails(r);
    check(failed == (r->rank == rank) && !awaited);
    talk(r);
}

static void who_asks(struct rank *r)
{
    refuses(r, 0);
}

static void who_is_asked(struct rank *r)
{
    refuses(r, 1);
}

static const struct test tests[] = {
    {"of who asks", 2, who_asks, nonthreaded, 0},
    {"of who is asked", 2, who_is_asked, nonthreaded, 0},
};

RUN_TESTS(tests)
