/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events of an IA that its provider has not had: a test that
 * stands in for dat_evd_dequeue() gives them. */
#ifndef TESTS_ASYNC_H
#define TESTS_ASYNC_H

#include "failover.h"

static struct {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE evd;
} opened[CUT_RAILS];
static unsigned nopened;

static DAT_EVENT async_event; /* next, where evd_handle says */

STAND_IN DAT_RETURN dat_ia_openv(const DAT_NAME_PTR name, DAT_COUNT qlen,
                                 DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia,
                                 DAT_UINT32 major, DAT_UINT32 minor,
                                 DAT_BOOLEAN thread_safe)
{
    DAT_RETURN status =
        real(dat_ia_openv)(name, qlen, evd, ia, major, minor, thread_safe);
    check(status == DAT_SUCCESS && nopened < CUT_RAILS);
    opened[nopened].ia = *ia;
    opened[nopened++].evd = *evd;
    return status;
}

/* Is there one for this EVD? */
static inline bool async_due(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (!async_event.evd_handle || evd != async_event.evd_handle)
        return false;
    *event = async_event;
    async_event.evd_handle = DAT_HANDLE_NULL;
    return true;
}

/* Rank 0 takes such an event of the rail's IA; both call it. */
static inline void async_take(struct rank *r, unsigned rail, unsigned number)
{
    unsigned i = 0;
    double end = seconds() + 20;
    while (opened[i].ia != cut.ias[rail])
        i++;
    async_event.event_number = (DAT_EVENT_NUMBER)number;
    async_event.event_data.asynch_error_event_data.dat_handle = opened[i].ia;
    async_event.evd_handle = r->rank == 0 ? opened[i].evd : DAT_HANDLE_NULL;
    while (async_event.evd_handle) {
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, r->peer, NULL, 1));
        check(seconds() < end);
    }
    barrier_outside(r); /* the peer hears of it when rank 0 has done all */
}

/* A look at events of rails that have just come up counts for nothing. */
static inline void async_settle(struct rank *r)
{
    for (double end = seconds() + 0.6; seconds() < end;)
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, r->peer, NULL, 1));
    barrier_outside(r); /* no event is taken before both go on */
}

static inline uint64_t failures(const struct rank *r, unsigned rail)
{
    return rail_stats(r, rail).failures;
}

#endif
