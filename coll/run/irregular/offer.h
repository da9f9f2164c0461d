/* SPDX-License-Identifier: BSD-3-Clause */
/* Irregular all-to-all through tables in node memory (build/irregular/offer.h):
 * each rank offers its elements there, and the receivers pick them. */
#ifndef DCOLL_RUN_OFFER_H
#define DCOLL_RUN_OFFER_H

#include "coll/run/request.h"

/* Bytes of SEND up to the end of the parts that peers read there; 0: all parts
 * are copied to NODE. mapped: rails map SEND. */
size_t offer_extent(const dcoll_request_t *q, bool mapped);

/* Checks the head that rank `from` has written: no error, and elements of my
 * size? 0, or the error that this start returns. */
int offer_check_head(const dcoll_request_t *q, unsigned from,
                     const struct offer_head *head);

/* Are the elements of an offer within `room` bytes of NODE or, if the other
 * rank is on this node, in its SEND? */
bool offer_is_within(const dcoll_request_t *q, unsigned other,
                     const struct offer *offer, size_t room);

/* The operations OFFER, PACK, EXPECT and PICK: 0, DRAIL_EAGAIN, or an error. */
int offer_elements(dcoll_request_t *q, const dcoll_op_t *op);
int offer_pack(dcoll_request_t *q, const dcoll_op_t *op);
int offer_expect(dcoll_request_t *q, const dcoll_op_t *op);
int offer_pick(dcoll_request_t *q, const dcoll_op_t *op);

#endif
