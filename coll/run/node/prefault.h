/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_PAGES_H
#define DCOLL_PAGES_H

#include "coll/run/request.h"

/* Pages of node memory that this rank writes, before the first starts need
 * them: short ones go through a hundred, and would take some times as long
 * while each is new. */
void prefault_node(const dcoll_request_t *q);

#endif
