/* SPDX-License-Identifier: BSD-3-Clause */
/* Irregular collectives that write elements where they belong: what ranks tell
 * each other before. */
#ifndef DCOLL_PLACED_H
#define DCOLL_PLACED_H

#include "coll/run/request.h"

/* OFFER and EXPECT in TEMP: how many elements this rank has for whom; and what
 * others have for it, which settles what its READY permits. */
int placed_offer(dcoll_request_t *q, const dcoll_op_t *op);
int placed_expect(dcoll_request_t *q, const dcoll_op_t *op);

#endif
