/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdaplofa also tells of a port that is active again: an asynchronous event
 * of the IA, by a number that it has not set, often that of the error before,
 * and perhaps not before the links of the rail are up again. They stay so;
 * other links do not. Stands in for the provider at its own calls.
 */
#include "async.h"

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    return async_due(evd, event) ? DAT_SUCCESS
                                 : real(dat_evd_dequeue)(evd, event);
}

static void port_is_active(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    async_take(r, 0, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    check(failures(r, 0) == 0);
    async_settle(r);
    if (r->rank == 0)
        cut.left[0] = 3;
    script_run(r, &s, 1);
    await_rails(r);
    check(failures(r, 0) == 1);
    async_take(r, 0, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    async_take(r, 0, 0x7fd1);
    async_take(r, 1, 0x7fd1);
    script_run(r, &s, 2);
    check(failures(r, 0) == 1 && failures(r, 1) == 0);
    async_take(r, 1, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    script_run(r, &s, 3);
    check(failures(r, 0) == 1 && failures(r, 1) == 1);
    await_rails(r);
    script_close(r, &s);
}

static const struct test tests[] = {
    {"a port is active again", 2, port_is_active, NULL, 0},
};

RUN_TESTS(tests)
