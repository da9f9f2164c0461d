/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A put arrives, and the receiver closes. The link has broken without the put's
 * acknowledgement, which only the sender notices, and only after the close: it
 * still learns that the put has arrived. The test stands in for the provider.
 */
#include "dapl_rail/links/link.h"
#include "hold.h"
#include "memory.h"

static bool breaks; /* the next request on rail 0 that has an event */

/* The acknowledgement of a DTO that has been delivered is lost. */
static void taken(DAT_EVENT *event)
{
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    if (!breaks || event->evd_handle != cut.evds[0] ||
        dto->user_cookie.as_64 & COOKIE_BITS)
        return;
    breaks = false;
    dto->status = DAT_DTO_ERR_FLUSHED;
}

static void put(struct rank *r, const struct memory *m)
{
    drail_req_t req;
    drail_xfer_t x = memory_xfer(r, m, 8);
    hold.rail[0] = hold.rail[1] = breaks = true;
    expect(r, 0,
           drail_put(r->t, 1, &x, DRAIL_NOTIFY | DRAIL_ON_RAIL(0), 42, &req));
    barrier(r); /* it has arrived, and rank 1 has closed */
    hold.rail[0] = hold.rail[1] = false;
    expect(r, 0, drail_wait(r->t, &req, -1));
    check(!breaks);
}

static void closes(struct rank *r)
{
    static struct memory m;
    uint32_t id;
    memory_open(r, &m, 8);
    if (r->rank == 0) {
        put(r, &m);
        return;
    }
    expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
    check(id == 42);
    drail_close(r->t);
    r->t = NULL;
    barrier(r);
}

static const struct test tests[] = {
    {"closes without having seen it", 2, closes, nonthreaded, 0},
};

RUN_TESTS(tests)
