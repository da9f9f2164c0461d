/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_FLAGS_H
#define DCOLL_FLAGS_H

#include "coll/run/request.h"

void flag_signal(dcoll_request_t *q, const dcoll_op_t *op);
/* 0, or DRAIL_EAGAIN: the peer has not set it. */
int flag_await(dcoll_request_t *q, const dcoll_op_t *op);
/* Until the flag that op awaits is set, or the clock shows this. */
void flag_sleep(dcoll_request_t *q, const dcoll_op_t *op, uint64_t until_ns);

#endif
