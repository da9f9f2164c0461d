/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of stages: 0, or an error of the team. */
#ifndef DCOLL_RUN_DEAL_H
#define DCOLL_RUN_DEAL_H

#include "coll/run/request.h"

/* DCOLL_DISTRIBUTE, DCOLL_COLLECT */
int deal_elements(dcoll_request_t *q, const dcoll_op_t *op);
/* DCOLL_DELIVER. If the elements do not fit, RECV is not written, and
 * q->dealing.start_error says why. */
int deliver_elements(dcoll_request_t *q, const dcoll_op_t *op);

#endif
