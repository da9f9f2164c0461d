/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures of a rail: as fail(), in the thread that has the rail. */
#ifndef DRAIL_RAILS_FAIL_H
#define DRAIL_RAILS_FAIL_H

#include <dat2/udat.h>

struct rail;

int rail_fail(struct rail *rail, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "dat_ep_connect(shm1): DAT_… (DAT_…)", code DRAIL_EDAT or DRAIL_ENOMEM */
int dat_fail(struct rail *rail, const char *call, DAT_RETURN status);

#endif
