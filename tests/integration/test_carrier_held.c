/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All links end while one carries a put for another: the put does not end
 * before the carrier is flushed, because until then its memory may be read.
 */
#include "dapl_rail/links/failover/outgoing_replay.h"
#include "dapl_rail/links/link.h"
#include "hold.h"
#include "memory.h"

/* The carrier fails at that put, and from then on tells no more. */
static void taken(DAT_EVENT *event)
{
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    uintptr_t cookie = (uintptr_t)dto->user_cookie.as_64;
    if (event->evd_handle != cut.evds[1] ||
        (cookie & COOKIE_BITS) != COOKIE_CARRIED ||
        ((struct carried *)(cookie - COOKIE_CARRIED))->as != CARRIED_DATA)
        return;
    dto->status = DAT_DTO_ERR_REMOTE_ACCESS;
    hold.rail[1] = true;
}

static void put(struct rank *r, const struct memory *m)
{
    drail_req_t req;
    drail_xfer_t x = memory_xfer(r, m, 8);
    cut.refuses = true;
    cut.left[0] = 0;
    expect(r, 0, drail_put(r->t, 1, &x, DRAIL_ON_RAIL(0), 0, &req));
    check(cut.cuts == 1);
    for (double end = seconds() + 20; !hold.rail[1];) {
        check(seconds() < end);
        expect(r, DRAIL_EAGAIN, drail_test(r->t, &req));
    }
    for (unsigned looks = 0; looks < 100; looks++)
        expect(r, DRAIL_EAGAIN, drail_test(r->t, &req));
    hold.rail[1] = false;
    expect(r, DRAIL_EACCESS, drail_wait(r->t, &req, 5000));
}

static void held_back(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 8);
    if (r->rank == 0)
        put(r, &m);
    else
        expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 0, NULL, -1));
    memory_close(r, &m);
}

static const struct test tests[] = {
    {"its flush is told late", 2, held_back, nonthreaded, 0},
};

RUN_TESTS(tests)
