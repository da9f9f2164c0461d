/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Over verbs a graceful disconnect flushes at once, but the end of the
 * connection is reported only when the peer has answered. An abrupt disconnect,
 * or freeing the EP before, waits for that. A rail that is lost waits for
 * neither. The test stands in for the provider.
 */
#include "async.h"

#define EPS 64u

/* EPs of rank 0 whose end is not told yet. */
static struct {
    DAT_EP_HANDLE ep;
    DAT_EVENT event;
    bool has_event;
} pending[EPS];
static bool mute;       /* it is so */
static bool told;       /* now they are told, … */
static double told_at;  /* … or then */
static int slow_ms;     /* so long a graceful disconnect takes */
static unsigned waited; /* calls that would have */

static unsigned place_of(DAT_EP_HANDLE ep)
{
    unsigned i = 0;
    while (i < EPS && pending[i].ep != ep)
        i++;
    return i;
}

static DAT_EP_STATE genuine_state(DAT_EP_HANDLE ep)
{
    DAT_EP_STATE state;
    DAT_BOOLEAN idle;
    check(real(dat_ep_get_status)(ep, &state, &idle, &idle) == DAT_SUCCESS);
    return state;
}

STAND_IN DAT_RETURN dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags)
{
    waited += flags == DAT_CLOSE_ABRUPT_FLAG && place_of(ep) < EPS;
    if (!mute || genuine_state(ep) != DAT_EP_STATE_CONNECTED)
        return real(dat_ep_disconnect)(ep, flags);
    if (flags == DAT_CLOSE_ABRUPT_FLAG) {
        waited++;
    } else {
        unsigned i = place_of(DAT_HANDLE_NULL);
        check(i < EPS);
        pending[i].ep = ep;
        nap(slow_ms);
    }
    return real(dat_ep_disconnect)(ep, DAT_CLOSE_ABRUPT_FLAG);
}

STAND_IN DAT_RETURN dat_ep_get_status(DAT_EP_HANDLE ep, DAT_EP_STATE *state,
                                      DAT_BOOLEAN *in, DAT_BOOLEAN *out)
{
    *in = *out = DAT_FALSE;
    *state = place_of(ep) < EPS ? DAT_EP_STATE_DISCONNECT_PENDING
                                : genuine_state(ep);
    return DAT_SUCCESS;
}

static bool is_end(const DAT_EVENT *event)
{
    return event->event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
           event->event_number == DAT_CONNECTION_EVENT_BROKEN;
}

static bool kept(const DAT_EVENT *event)
{
    DAT_EP_HANDLE ep = event->event_data.connect_event_data.ep_handle;
    unsigned i = is_end(event) ? place_of(ep) : EPS;
    if (i == EPS)
        return false;
    pending[i].event = *event;
    pending[i].has_event = true;
    return true;
}

static bool end_told(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (told_at && seconds() >= told_at)
        told = true;
    for (unsigned i = 0; told && i < EPS; i++)
        if (pending[i].has_event && pending[i].event.evd_handle == evd) {
            *event = pending[i].event;
            memset(&pending[i], 0, sizeof pending[i]);
            return true;
        }
    return false;
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    DAT_RETURN status;
    if (async_due(evd, event) || end_told(evd, event))
        return DAT_SUCCESS;
    while ((status = real(dat_evd_dequeue)(evd, event)) == DAT_SUCCESS &&
           kept(event))
        ;
    return status;
}

static unsigned nfreed, early; /* early: before their end was told */

static void freed(DAT_EP_HANDLE ep)
{
    waited += place_of(ep) < EPS;
    early += place_of(ep) < EPS;
    nfreed++;
}

static void slow_ends(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    async_settle(r);
    cut.freed = freed;
    mute = r->rank == 0;
    for (unsigned rail = 0; rail < 2; rail++) {
        async_take(r, rail, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
        script_run(r, &s, rail);
        await_rails(r);
        check(failures(r, rail) == 1);
    }
    check(waited == 0);
    check(nfreed == (mute ? 0 : 2));
    told = true;
    async_take(r, 0, 0);
    async_take(r, 0, 0); /* has looked at all events */
    check(nfreed == 2);
    check(waited == 0);
    script_run(r, &s, 2);
    mute = false;
    script_close(r, &s);
}

/* Events that have come back meanwhile only have to be taken. */
static void slow_process(struct rank *r)
{
    slow_ms = 50;
    slow_ends(r);
}

/* libdaplofa's thread may still be at work on an EP whose end is not told. */
static void closing(struct rank *r)
{
    mute = true;
    told_at = seconds() + 0.2;
    drail_close(r->t);
    r->t = NULL;
    check(nfreed >= 2);
    check(early == 0);
}

/* An EP whose end is never told does not hold up for long. */
static void closing_untold(struct rank *r)
{
    double begin = seconds();
    mute = true;
    drail_close(r->t);
    r->t = NULL;
    check(nfreed >= 2);
    check(seconds() - begin < 10);
}

static void two_rails(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cut.freed = freed;
}

static const struct test tests[] = {
    {"ends that are told late", 2, slow_ends, NULL, 0},
    {"ends that are told late to a slow process", 2, slow_process, NULL, 0},
    {"closing, ends that are told late", 2, closing, two_rails, 0},
    {"closing, ends that are never told", 2, closing_untold, two_rails, 0},
};

RUN_TESTS(tests)
