/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A put arrives, then its link breaks, so that its sender does not know, and
 * the receiver closes: the sender still hears that it has arrived. Stands in
 * for the provider, which gives events as late as a wire may.
 */
#include "dapl_rail/base/dat.h"
#include "dapl_rail/links/link.h"
#include "memory.h"
#include "standin.h"

#define RAILS 2

static struct {
    DAT_EVD_HANDLE evd, conn; /* of DTOs, and of connections */
    bool held;                /* those of DTOs come later */
} rails[RAILS];
static bool breaks;        /* the next request that has an event */
static unsigned looks;     /* after so many, nothing is held any more */
static bool until_the_end; /* what rail 1 brings is held, until it … */
static bool disconnected;  /* … is */

/* Rails get their EPs in their order. */
__attribute__((visibility("default"))) DAT_RETURN
dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv,
              DAT_EVD_HANDLE request, DAT_EVD_HANDLE conn,
              const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep)
{
    __typeof__(&dat_ep_create) real;
    unsigned r = 0;
    *(void **)&real = real_call("dat_ep_create");
    while (rails[r].evd && rails[r].evd != recv)
        r++;
    check(r < RAILS);
    rails[r].evd = recv;
    rails[r].conn = conn;
    return real(ia, pz, recv, request, conn, attr, ep);
}

static bool is_held(DAT_EVD_HANDLE evd)
{
    unsigned r = 0;
    while (r < RAILS && rails[r].evd != evd)
        r++;
    if (r == RAILS || !rails[r].held)
        return false;
    if (looks && !--looks)
        rails[0].held = false;
    return rails[r].held;
}

/* The acknowledgement of a DTO that has been delivered is lost, and the
 * connection with it. */
static void taken(DAT_EVENT *event)
{
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    if (event->event_number == DAT_CONNECTION_EVENT_DISCONNECTED &&
        event->evd_handle == rails[1].conn) {
        disconnected = true;
        rails[1].held = false;
    }
    if (!breaks || event->evd_handle != rails[0].evd ||
        dto->user_cookie.as_64 & COOKIE_BITS)
        return;
    breaks = false;
    dto->status = DAT_DTO_ERR_FLUSHED;
    dat_ep_disconnect(dto->ep_handle, DAT_CLOSE_ABRUPT_FLAG);
    rails[1].held = until_the_end;
}

__attribute__((visibility("default"))) DAT_RETURN
dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    __typeof__(&dat_evd_dequeue) real;
    *(void **)&real = real_call("dat_evd_dequeue");
    if (is_held(evd))
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_QUEUE_EMPTY;
    DAT_RETURN status = real(evd, event);
    if (status == DAT_SUCCESS)
        taken(event);
    return status;
}

__attribute__((visibility("default"))) DAT_RETURN
dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT us, DAT_COUNT threshold,
             DAT_EVENT *event, DAT_COUNT *more)
{
    __typeof__(&dat_evd_wait) real;
    *(void **)&real = real_call("dat_evd_wait");
    if (is_held(evd)) {
        nap(1);
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_TIMEOUT_EXPIRED;
    }
    DAT_RETURN status = real(evd, us, threshold, event, more);
    if (status == DAT_SUCCESS)
        taken(event);
    return status;
}

static bool is_up(struct rank *r)
{
    drail_rail_stats_t stats;
    drail_rail_stats(r->t, 0, &stats);
    return stats.up;
}

/* Has lost the link, but not yet told what has come over it. */
static void close_soon(struct rank *r)
{
    uint32_t id;
    rails[0].held = true; /* what comes back of the lost EP */
    barrier(r);           /* it breaks now */
    for (double end = seconds() + 20; is_up(r); nap(1)) {
        check(seconds() < end);
        expect(r, DRAIL_EAGAIN, drail_notify_wait(r->t, 0, &id, 0));
    }
    looks = 4;
    drail_close(r->t);
    r->t = NULL;
}

static void put(struct rank *r, const struct memory *m)
{
    drail_req_t req;
    drail_xfer_t x = memory_xfer(r, m, 8);
    unsigned flags = DRAIL_NOTIFY | DRAIL_ON_RAIL(0);
    expect(r, 0, drail_put(r->t, 1, &x, flags, 42, &req));
    barrier(r); /* it has arrived */
    barrier(r);
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
    barrier(r);
    close_soon(r);
}

/* The last word comes just before the last link ends, and is seen after it. */
static void closes_at_once(struct rank *r)
{
    until_the_end = r->rank == 0;
    closes(r);
    check(r->rank == 1 || disconnected);
}

static void nonthreaded(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static const struct test tests[] = {
    {"tells before it closes", 2, closes, nonthreaded, 0},
    {"tells, and has closed", 2, closes_at_once, nonthreaded, 0},
};

RUN_TESTS(tests)
