/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last rail goes while another one returns: its new connection is made, but
 * one end has not heard of that yet. Nothing ends.
 */
#include "failover.h"

#define LOOKS 8 /* for connection events, before that one is among them */

static struct {
    bool armed, held;
    DAT_EVENT event;
    unsigned looks;
} late;

static const DAT_RETURN nothing = (DAT_RETURN)DAT_CLASS_ERROR | DAT_QUEUE_EMPTY;

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (late.held && late.event.evd_handle == evd) {
        late.held = ++late.looks < LOOKS;
        *event = late.event;
        return late.held ? nothing : DAT_SUCCESS;
    }
    DAT_RETURN status = real(dat_evd_dequeue)(evd, event);
    if (status != DAT_SUCCESS || !late.armed ||
        event->event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
        return status;
    late.armed = false;
    late.held = true;
    late.event = *event;
    check(dat_ep_disconnect(cut.eps[1], DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS);
    return nothing;
}

static void talk(struct rank *r)
{
    for (uint32_t id = 0; id < 20; id++) {
        expect(r, 0, drail_notify(r->t, r->peer, 0, id));
        await_note(r, id);
    }
}

/* A rank that has not heard of the break, and takes all rails to be up, helps
 * the other one. */
static void both_up(struct rank *r)
{
    bool told = false, heard = false;
    for (double end = seconds() + 20; !told || !heard;) {
        check(seconds() < end);
        if (!told && !late.armed && stats_sum(r).up) {
            expect(r, 0, drail_notify(r->t, r->peer, 0, 100));
            told = true;
        }
        int rc = drail_notify_wait(r->t, r->peer, NULL, 1);
        check(rc == 0 || rc == DRAIL_ETIMEOUT);
        heard |= rc == 0;
    }
    expect(r, 0, drail_fence(r->t, r->peer));
    barrier(r);
}

static void hears_late(struct rank *r, unsigned rank)
{
    barrier_outside(r); /* the new connection is not made before that */
    late.armed = r->rank == rank;
    if (r->rank == 0)
        cut.left[0] = 0; /* at the first DTO */
    talk(r);
    both_up(r);
    talk(r);
    check(!late.armed && (r->rank != rank || late.looks == LOOKS));
}

static void who_asks(struct rank *r)
{
    hears_late(r, 0);
}

static void who_is_asked(struct rank *r)
{
    hears_late(r, 1);
}

static const struct test tests[] = {
    {"heard late by who asks", 2, who_asks, nonthreaded, 0},
    {"heard late by who is asked", 2, who_is_asked, nonthreaded, 0},
};

RUN_TESTS(tests)
