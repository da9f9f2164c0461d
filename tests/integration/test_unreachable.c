/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Over libdaplofa a connection may be told to be unreachable while its queue
 * pair still runs: to disconnect it does nothing, and what is under way lands
 * when the wire is back. Only dat_ep_reset() ends that. Stands in for the
 * provider at its own calls.
 */
#include "memory.h"
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define RAILS 2u
#define BYTES (64u << 10)

/* The first rail of rank 0. */
static struct {
    DAT_EP_HANDLE ep;
    DAT_EVD_HANDLE dto_evd, conn_evd;
    bool runs;            /* it has the next RDMA write under way */
    bool told;            /* that it is unreachable */
    DAT_EVENT flushed[8]; /* that write and what was posted behind it */
    unsigned under_way, given;
    unsigned resets;
} wire;
static bool is_first = true;

STAND_IN DAT_RETURN dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                                  DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                                  DAT_EVD_HANDLE conn, const DAT_EP_ATTR *attr,
                                  DAT_EP_HANDLE *ep)
{
    DAT_RETURN status =
        real(dat_ep_create)(ia, pz, recv, request, conn, attr, ep);
    if (is_first) {
        wire.ep = *ep;
        wire.dto_evd = request;
        wire.conn_evd = conn;
    }
    is_first = false;
    return status;
}

/* It is under way, and no more than that. */
static DAT_RETURN hold(DAT_DTO_COOKIE cookie)
{
    DAT_EVENT *event = &wire.flushed[wire.under_way++];
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    check(wire.under_way <= sizeof wire.flushed / sizeof wire.flushed[0]);
    event->event_number = DAT_DTO_COMPLETION_EVENT;
    dto->ep_handle = wire.ep;
    dto->user_cookie = cookie;
    dto->status = DAT_DTO_ERR_FLUSHED;
    return DAT_SUCCESS;
}

static bool holds(DAT_EP_HANDLE ep)
{
    return wire.under_way && ep == wire.ep && !wire.resets;
}

STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT n,
                                           DAT_LMR_TRIPLET *local,
                                           DAT_DTO_COOKIE cookie,
                                           const DAT_RMR_TRIPLET *remote,
                                           DAT_COMPLETION_FLAGS flags)
{
    if (!wire.runs || ep != wire.ep)
        return real(dat_ep_post_rdma_write)(ep, n, local, cookie, remote,
                                            flags);
    wire.runs = false;
    return hold(cookie);
}

STAND_IN DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *local,
                                     DAT_DTO_COOKIE cookie,
                                     DAT_COMPLETION_FLAGS flags)
{
    return holds(ep) ? hold(cookie)
                     : real(dat_ep_post_send)(ep, n, local, cookie, flags);
}

STAND_IN DAT_RETURN dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags)
{
    return holds(ep) ? DAT_SUCCESS : real(dat_ep_disconnect)(ep, flags);
}

STAND_IN DAT_RETURN dat_ep_reset(DAT_EP_HANDLE ep)
{
    if (ep == wire.ep) {
        check(!wire.resets++);
        dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
    }
    return real(dat_ep_reset)(ep);
}

/* The wire's own events, before others. */
static bool news(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (evd == wire.conn_evd && wire.under_way && !wire.told) {
        memset(event, 0, sizeof *event);
        event->event_number = DAT_CONNECTION_EVENT_UNREACHABLE;
        event->event_data.connect_event_data.ep_handle = wire.ep;
        wire.told = true;
        return true;
    }
    if (evd != wire.dto_evd || !wire.resets || wire.given == wire.under_way)
        return false;
    *event = wire.flushed[wire.given++];
    return true;
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    return news(evd, event) ? DAT_SUCCESS : real(dat_evd_dequeue)(evd, event);
}

static void await_rails(struct rank *r)
{
    double end = seconds() + 20;
    drail_rail_stats_t s[RAILS];
    do {
        check(seconds() < end);
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, r->peer, NULL, 1));
        for (unsigned i = 0; i < RAILS; i++)
            drail_rail_stats(r->t, i, &s[i]);
    } while (!s[0].up || !s[1].up);
    check(s[0].failures == 1 && s[1].failures == 0);
    barrier(r);
}

static void talk(struct rank *r, const struct memory *m, unsigned char content)
{
    drail_xfer_t x = memory_xfer(r, m, BYTES);
    uint32_t id = 0;
    drail_req_t req;
    x.remote_offset = BYTES;
    memset(m->bytes, content + (int)r->rank, BYTES);
    expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, content, &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
    expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
    check(id == content);
    for (unsigned i = 0; i < BYTES; i++)
        check(m->bytes[BYTES + i] == content + r->peer);
    barrier(r);
}

static void unreachable(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, 2 * BYTES);
    talk(r, &m, 1);
    wire.runs = r->rank == 0;
    talk(r, &m, 3);
    await_rails(r);
    talk(r, &m, 5);
    check(wire.resets == (r->rank == 0));
    memory_close(r, &m);
}

static void short_patience(drail_config_t *cfg)
{
    cfg->timeout_ms = 10000;
    cfg->notify_by = DRAIL_NOTIFY_BY_SEND;
}

static const struct test tests[] = {
    {"unreachable while it runs", 2, unreachable, short_patience, 0},
};

RUN_TESTS(tests)
