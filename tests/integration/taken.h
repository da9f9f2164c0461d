/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the test every event that the transport takes. */
#ifndef TESTS_TAKEN_H
#define TESTS_TAKEN_H

#include "ranks.h"
#include "tests/stand_in.h"

/* The test's. */
static void taken(const DAT_EVENT *event);

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    DAT_RETURN status = real(dat_evd_dequeue)(evd, event);
    if (status == DAT_SUCCESS)
        taken(event);
    return status;
}

STAND_IN DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT us,
                                 DAT_COUNT threshold, DAT_EVENT *event,
                                 DAT_COUNT *more)
{
    DAT_RETURN status = real(dat_evd_wait)(evd, us, threshold, event, more);
    if (status == DAT_SUCCESS)
        taken(event);
    return status;
}

#endif
