/* SPDX-License-Identifier: BSD-3-Clause */
/* A provider that is slow to tell: of a rail that is held, no event of a DTO
 * comes. Shows the test every event that the transport takes. */
#ifndef TESTS_HOLD_H
#define TESTS_HOLD_H

#include "cut.h"

/* The test's; it may change it. */
static void taken(DAT_EVENT *event);

static struct {
    bool rail[CUT_RAILS];
    unsigned looks; /* after so many, none is held any more; 0: for ever */
} hold;

static inline bool is_held(DAT_EVD_HANDLE evd)
{
    unsigned r = 0;
    while (r < CUT_RAILS && cut.evds[r] != evd)
        r++;
    if (r == CUT_RAILS || !hold.rail[r])
        return false;
    if (hold.looks && !--hold.looks)
        memset(hold.rail, 0, sizeof hold.rail);
    return hold.rail[r];
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (is_held(evd))
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_QUEUE_EMPTY;
    DAT_RETURN status = real(dat_evd_dequeue)(evd, event);
    if (status == DAT_SUCCESS)
        taken(event);
    return status;
}

STAND_IN DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT us,
                                 DAT_COUNT threshold, DAT_EVENT *event,
                                 DAT_COUNT *more)
{
    if (is_held(evd)) {
        nap(1);
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_TIMEOUT_EXPIRED;
    }
    DAT_RETURN status = real(dat_evd_wait)(evd, us, threshold, event, more);
    if (status == DAT_SUCCESS)
        taken(event);
    return status;
}

#endif
