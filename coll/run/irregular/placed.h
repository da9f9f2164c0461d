/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithms `placed` of the irregular all-to-all: elements are written
 * straight into RECV, after the receiver has said where. */
#ifndef DCOLL_PLACED_H
#define DCOLL_PLACED_H

#include "coll/run/request.h"

/* OFFER in TEMP: writes how many elements I have for each rank. */
int placed_offer(dcoll_request_t *q, const dcoll_op_t *op);
/* EXPECT in TEMP: reads how many elements each rank has for me, and fills the
 * windows that my READY notifications carry. */
int placed_expect(dcoll_request_t *q, const dcoll_op_t *op);
/* EXPECT in RECV: the same, of the counts for which the schedule was made. */
int placed_expect_counts(dcoll_request_t *q);

#endif
