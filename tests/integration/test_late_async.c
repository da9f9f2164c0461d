/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdaplofa also tells of a port that is active again: an asynchronous event
 * of the IA, by a number that it has not set, often that of the error before,
 * and perhaps not before the links of the rail are up again. They stay so;
 * other links do not. Stands in for the provider at its own calls.
 */
#include "failover.h"

static struct {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE evd;
} opened[CUT_RAILS];
static unsigned nopened;

static DAT_EVENT due; /* next, where evd_handle says */

__attribute__((visibility("default"))) DAT_RETURN
dat_ia_openv(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd,
             DAT_IA_HANDLE *ia, DAT_UINT32 major, DAT_UINT32 minor,
             DAT_BOOLEAN thread_safe)
{
    __typeof__(&dat_ia_openv) real;
    *(void **)&real = real_call("dat_ia_openv");
    DAT_RETURN status = real(name, qlen, evd, ia, major, minor, thread_safe);
    check(status == DAT_SUCCESS && nopened < CUT_RAILS);
    opened[nopened].ia = *ia;
    opened[nopened++].evd = *evd;
    return status;
}

__attribute__((visibility("default"))) DAT_RETURN
dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    __typeof__(&dat_evd_dequeue) real;
    *(void **)&real = real_call("dat_evd_dequeue");
    if (!due.evd_handle || evd != due.evd_handle)
        return real(evd, event);
    *event = due;
    due.evd_handle = DAT_HANDLE_NULL;
    return DAT_SUCCESS;
}

/* Rank 0 takes such an event of the rail's IA. */
static void take(struct rank *r, unsigned rail, unsigned number)
{
    unsigned i = 0;
    double end = seconds() + 20;
    while (opened[i].ia != cut.ias[rail])
        i++;
    due.event_number = (DAT_EVENT_NUMBER)number;
    due.event_data.asynch_error_event_data.dat_handle = opened[i].ia;
    due.evd_handle = r->rank == 0 ? opened[i].evd : DAT_HANDLE_NULL;
    while (due.evd_handle) {
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, r->peer, NULL, 1));
        check(seconds() < end);
    }
    barrier(r);
}

static uint64_t failures(const struct rank *r, unsigned rail)
{
    drail_rail_stats_t s;
    drail_rail_stats(r->t, rail, &s);
    return s.failures;
}

static void port_is_active(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    if (r->rank == 0)
        cut.left[0] = 3;
    script_run(r, &s, 1);
    await_rails(r);
    check(failures(r, 0) == 1);
    take(r, 0, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    take(r, 0, 0x7fd1);
    take(r, 1, 0x7fd1);
    script_run(r, &s, 2);
    check(failures(r, 0) == 1 && failures(r, 1) == 0);
    take(r, 1, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    script_run(r, &s, 3);
    check(failures(r, 0) == 1 && failures(r, 1) == 1);
    await_rails(r);
    script_close(r, &s);
}

static const struct test tests[] = {
    {"a port is active again", 2, port_is_active, NULL, 0},
};

RUN_TESTS(tests)
