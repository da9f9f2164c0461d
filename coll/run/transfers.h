/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_TRANSFERS_H
#define DCOLL_TRANSFERS_H

#include "coll/run/request.h"

/* Operations of a schedule: 0, DRAIL_EAGAIN, or an error. */
int transfer_put(dcoll_request_t *q, const dcoll_op_t *op);
int transfer_get(dcoll_request_t *q, const dcoll_op_t *op);
int transfer_notify(dcoll_request_t *q, const dcoll_op_t *op);
int transfers_complete(dcoll_request_t *q, const dcoll_op_t *op);

#endif
