/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A put arrives, then its link breaks without its acknowledgement, and the
 * receiver closes, or closes before it knows of the break: the sender still
 * learns that the put has arrived. The test stands in for the provider, which
 * delivers events as late as a wire may.
 */
#include "dapl_rail/links/link.h"
#include "hold.h"
#include "memory.h"

static bool breaks;        /* the next request on rail 0 that has an event */
static bool unseen;        /* only the sender notices */
static bool until_the_end; /* events of rail 1 are held, until it … */
static bool disconnected;  /* … is */

/* The acknowledgement of a DTO that has been delivered is lost, and the
 * connection with it. */
static void taken(DAT_EVENT *event)
{
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    if (event->event_number == DAT_CONNECTION_EVENT_DISCONNECTED &&
        event->evd_handle == cut.conns[1]) {
        disconnected = true;
        hold.rail[1] = false;
    }
    if (!breaks || event->evd_handle != cut.evds[0] ||
        dto->user_cookie.as_64 & COOKIE_BITS)
        return;
    breaks = false;
    dto->status = DAT_DTO_ERR_FLUSHED;
    if (unseen)
        return;
    dat_ep_disconnect(dto->ep_handle, DAT_CLOSE_ABRUPT_FLAG);
    hold.rail[1] = until_the_end;
}

static bool is_up(struct rank *r)
{
    return rail_stats(r, 0).up;
}

/* Has lost the link, but not yet told what has come over it. */
static void close_soon(struct rank *r)
{
    uint32_t id;
    hold.rail[0] = true; /* events of the lost EP */
    barrier_outside(r);  /* it breaks now */
    for (double end = seconds() + 20; is_up(r); nap(1)) {
        check(seconds() < end);
        expect(r, DRAIL_EAGAIN, drail_notify_wait(r->t, 0, &id, 0));
    }
    hold.looks = 4;
    drail_close(r->t);
    r->t = NULL;
}

static void put(struct rank *r, const struct memory *m)
{
    drail_req_t req;
    drail_xfer_t x = memory_xfer(r, m, 8);
    unsigned flags = DRAIL_NOTIFY | DRAIL_ON_RAIL(0);
    expect(r, 0, drail_put(r->t, 1, &x, flags, 42, &req));
    barrier_outside(r); /* it has arrived */
    barrier_outside(r);
    breaks = true;
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
    barrier_outside(r);
    close_soon(r);
}

/* The last word comes just before the last link ends, and is seen after it. */
static void closes_at_once(struct rank *r)
{
    until_the_end = r->rank == 0;
    closes(r);
    check(r->rank == 1 || disconnected);
}

static void put_unseen(struct rank *r, const struct memory *m)
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

static void closes_before_it_knows(struct rank *r)
{
    static struct memory m;
    uint32_t id;
    unseen = true;
    memory_open(r, &m, 8);
    if (r->rank == 0) {
        put_unseen(r, &m);
        return;
    }
    expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
    check(id == 42);
    drail_close(r->t);
    r->t = NULL;
    barrier(r);
}

static const struct test tests[] = {
    {"tells before it closes", 2, closes, nonthreaded, 0},
    {"tells, and has closed", 2, closes_at_once, nonthreaded, 0},
    {"closes before it knows", 2, closes_before_it_knows, nonthreaded, 0},
};

RUN_TESTS(tests)
