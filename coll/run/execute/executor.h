/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_EXECUTOR_H
#define DCOLL_EXECUTOR_H

#include "coll/run/request.h"

int request_start(dcoll_request_t *q);
/* Performs what can be performed now: 0 complete, DRAIL_EAGAIN, or an error. */
int request_advance(dcoll_request_t *q);

#endif
