/* SPDX-License-Identifier: BSD-3-Clause */
/* All links end while their queues have no room for the request whose event
 * tells that the others have come back: what was not posted any more ends. */
#include "dapl_rail/links/link.h"
#include "failover.h"

#define REFUSALS 5

static unsigned refused[CUT_RAILS];

/* The provider's answer to the last request of an EP, some times. */
static bool has_no_room(DAT_EP_HANDLE ep, DAT_DTO_COOKIE cookie)
{
    if ((cookie.as_64 & COOKIE_BITS) != COOKIE_LAST)
        return false;
    for (unsigned r = 0; r < CUT_RAILS; r++)
        if (cut.eps[r] == ep)
            return refused[r]++ < REFUSALS;
    return false;
}

static void all_at_once(struct rank *r)
{
    struct memory m;
    drail_req_t req;
    memory_open(r, &m, STRIPED);
    drail_xfer_t x = memory_xfer(r, &m, STRIPED);
    cut.refuses = true;
    cut.full = has_no_room;
    if (r->rank == 0) {
        cut.left[0] = cut.left[1] = 0;
        expect(r, 0, drail_put(r->t, 1, &x, DRAIL_NOTIFY, 1, &req));
        check(cut.cuts == 2);
        expect(r, DRAIL_EPEER, drail_wait(r->t, &req, 5000));
        check(refused[0] > 1);
    } else {
        expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 0, NULL, -1));
    }
    memory_close(r, &m);
}

static void threaded(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static const struct test tests[] = {
    {"nonthreaded", 2, all_at_once, nonthreaded, 0},
    {"threaded", 2, all_at_once, threaded, 0},
};

RUN_TESTS(tests)
