/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An EP that has been connected is freed when all its receives have come back:
 * verbs providers crash on an event of an EP that is gone. Stands in for the
 * provider at its own calls.
 */
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define SOON 15 /* seconds */

static struct {
    DAT_EP_HANDLE ep;
    unsigned receives;
} eps[64];
static unsigned freed, early; /* early: before its receives came back */
static bool refuses;          /* connections over the second rail are refused */
static DAT_IA_HANDLE second;  /* its IA */
static unsigned connects, refused;

static unsigned *receives_of(DAT_EP_HANDLE ep)
{
    unsigned i = 0;
    while (eps[i].ep && eps[i].ep != ep)
        i++;
    eps[i].ep = ep;
    return &eps[i].receives;
}

STAND_IN DAT_RETURN dat_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *local,
                                     DAT_DTO_COOKIE cookie,
                                     DAT_COMPLETION_FLAGS flags)
{
    ++*receives_of(ep);
    return real(dat_ep_post_recv)(ep, n, local, cookie, flags);
}

/* Flushed receives come late, one at a time. */
static DAT_EVENT late[256];
static unsigned nlate, looks;

static bool flushed(const DAT_EVENT *event)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    return event->event_number == DAT_DTO_COMPLETION_EVENT &&
           dto->operation == DAT_DTO_RECEIVE &&
           dto->status == DAT_DTO_ERR_FLUSHED &&
           nlate < sizeof late / sizeof late[0];
}

static bool late_event(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    for (unsigned i = 0; i < nlate; i++) {
        if (late[i].evd_handle != evd)
            continue;
        if (++looks % 4)
            return false;
        *event = late[i];
        late[i] = late[--nlate];
        return true;
    }
    return false;
}

static void taken(DAT_RETURN status, const DAT_EVENT *event)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    if (status == DAT_SUCCESS &&
        event->event_number == DAT_DTO_COMPLETION_EVENT &&
        dto->operation == DAT_DTO_RECEIVE)
        --*receives_of(dto->ep_handle);
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    DAT_RETURN status;
    while ((status = real(dat_evd_dequeue)(evd, event)) == DAT_SUCCESS &&
           flushed(event))
        late[nlate++] = *event;
    if (status != DAT_SUCCESS && late_event(evd, event))
        status = DAT_SUCCESS;
    taken(status, event);
    return status;
}

STAND_IN DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT us,
                                 DAT_COUNT threshold, DAT_EVENT *event,
                                 DAT_COUNT *more)
{
    DAT_RETURN status = real(dat_evd_wait)(evd, us, threshold, event, more);
    taken(status, event);
    return status;
}

STAND_IN DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
                                   DAT_CONN_QUAL qual, DAT_TIMEOUT us,
                                   DAT_COUNT bytes, const DAT_PVOID data,
                                   DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    DAT_EP_PARAM param;
    check(dat_ep_query(ep, DAT_EP_FIELD_IA_HANDLE, &param) == DAT_SUCCESS);
    if (connects++ == 1)
        second = param.ia_handle;
    if (refuses && param.ia_handle == second) {
        refused++;
        qual = 1; /* nobody listens there */
    }
    return real(dat_ep_connect)(ep, address, qual, us, bytes, data, qos, flags);
}

STAND_IN DAT_RETURN dat_ep_free(DAT_EP_HANDLE ep)
{
    DAT_EP_PARAM param;
    freed++;
    /* one that has been connected is not unconnected again */
    if (dat_ep_query(ep, DAT_EP_FIELD_EP_STATE, &param) == DAT_SUCCESS &&
        param.ep_state == DAT_EP_STATE_DISCONNECTED && *receives_of(ep))
        early++;
    *receives_of(ep) = 0;
    return real(dat_ep_free)(ep);
}

static void talk(struct rank *r, unsigned flags)
{
    expect(r, 0, drail_notify(r->t, r->peer, flags, 1));
    expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
}

/* Again and again a rail connects and the other does not; then both do. */
static void again(struct rank *r)
{
    refuses = r->rank == 0;
    expect(r, 0, drail_connect(r->t, r->peer));
    for (double end = seconds() + SOON; refuses && refused < 3;) {
        check(seconds() < end);
        expect(r, 0, drail_progress(r->t));
        nap(1);
    }
    refuses = false;
    talk(r, 0);
    talk(r, DRAIL_ALL_RAILS);
    barrier(r);
    drail_close(r->t);
    r->t = NULL;
    check(freed >= (r->rank == 0 ? 4 : 1));
    check(early == 0);
}

static void impatient(drail_config_t *cfg)
{
    cfg->connect_timeout_ms = 1000;
    cfg->depth = 8;
}

static const struct test tests[] = {
    {"connect again", 2, again, impatient, APART},
};

RUN_TESTS(tests)
