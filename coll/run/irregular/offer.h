/* SPDX-License-Identifier: BSD-3-Clause */
/* Irregular collectives through tables in the node's memory. */
#ifndef DCOLL_RUN_OFFER_H
#define DCOLL_RUN_OFFER_H

#include "coll/run/request.h"

/* Bytes from the begin of SEND, which rails map or not, to the end of what
 * peers may read there: 0 if all of it goes to NODE. */
size_t offer_extent(const dcoll_request_t *q, bool mapped);

/* Does the rank that has written the head have something to offer, of the same
 * elements? 0, or an error of this start. */
int offer_check_head(const dcoll_request_t *q, unsigned from,
                     const struct offer_head *head);

/* Are the elements that another rank has, or is to have, in so much room of
 * NODE; or, on this node, in SEND? */
bool offer_is_within(const dcoll_request_t *q, unsigned other,
                     const struct offer *offer, size_t room);

/* Operations: 0, DRAIL_EAGAIN, or an error. */
int offer_elements(dcoll_request_t *q, const dcoll_op_t *op);
int offer_pack(dcoll_request_t *q, const dcoll_op_t *op);
int offer_expect(dcoll_request_t *q, const dcoll_op_t *op);
int offer_pick(dcoll_request_t *q, const dcoll_op_t *op);

#endif
