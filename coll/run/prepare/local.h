/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a request that a rank prepares alone: schedule and memory. */
#ifndef DCOLL_LOCAL_H
#define DCOLL_LOCAL_H

#include "coll/run/request.h"

/* What a schedule needs. */
struct needs {
    unsigned transfers; /* puts and gets */
    bool temp, node;    /* sources or targets of puts */
    bool ready;         /* it sends or receives READY */
    bool remote;        /* it uses the transport */
};

/* Generates the schedule, and allocates the memory. The first rank of a node
 * creates the node memory and fills the locator for the others. 0, or an error
 * of the team. */
int prepare_local(dcoll_request_t *q, struct needs *needs,
                  struct segment_locator *locator);
/* Simulated jobs without payload: on = the contents of TEMP or NODE are not
 * moved. off: must succeed before the memory is used for anything else. */
int request_hollow(dcoll_request_t *q, dcoll_space_t space, bool on);
/* The node memory of a request: flags, keys and NODE. */
bool request_has_node(const dcoll_request_t *q);
size_t request_node_bytes(const dcoll_request_t *q);
/* Sets the pointers into it, after it has been mapped. */
void request_use_node(dcoll_request_t *q);

#endif
