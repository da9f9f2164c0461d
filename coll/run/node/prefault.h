/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_PREFAULT_H
#define DCOLL_PREFAULT_H

#include "coll/run/request.h"

/* Populates the pages of node memory that this rank will write. Short calls use
 * a new part of it in each of the first hundred starts, and a page fault there
 * would take several times as long as the call. */
void prefault_node(const dcoll_request_t *q);

#endif
