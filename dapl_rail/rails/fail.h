/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of a rail: like fail() of base/error.h, for the thread that has taken
 * the rail. */
#ifndef DRAIL_RAILS_FAIL_H
#define DRAIL_RAILS_FAIL_H

#include <dat2/udat.h>

struct rail;

/* Keeps the sentence as the rail's last error. Returns code. */
int rail_fail(struct rail *rail, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with "dat_ep_connect(shm1): DAT_… (DAT_…)". Returns DRAIL_EDAT or
 * DRAIL_ENOMEM. */
int dat_fail(struct rail *rail, const char *call, DAT_RETURN status);

#endif
