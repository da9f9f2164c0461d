/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations over the rails: puts, gets and notifications. Each returns 0,
 * DRAIL_EAGAIN, or an error. */
#ifndef DCOLL_TRANSFERS_H
#define DCOLL_TRANSFERS_H

#include "coll/run/request.h"

int transfer_put(dcoll_request_t *q, const dcoll_op_t *op);
int transfer_get(dcoll_request_t *q, const dcoll_op_t *op);
/* Gets `bytes` at address `from` of the buffer that the peer shares. */
int transfer_get_from(dcoll_request_t *q, unsigned peer, unsigned port,
                      uint64_t from, unsigned char *to, size_t bytes);
int transfer_notify(dcoll_request_t *q, const dcoll_op_t *op);
int transfers_complete(dcoll_request_t *q, const dcoll_op_t *op);

#endif
