/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_PREPARE_H
#define DCOLL_PREPARE_H

#include "coll/run/request.h"

/* What a schedule needs. */
struct needs {
    unsigned transfers;
    bool temp, node; /* sources or targets of puts */
    bool ready;      /* RECV keys are sent or received */
    bool remote;
};

/* What this rank can do alone. The first rank of a node that has memory for it
 * says in the card where it is. */
int prepare_local(dcoll_request_t *q, struct needs *needs,
                  struct segment_locator *card);
/* Nothing of TEMP or NODE is moved, where data may be without contents; off:
 * before its memory is given back, which it can't be on failure, but unmapped.
 */
int request_hollow(dcoll_request_t *q, dcoll_space_t space, bool on);
/* The node's memory: flags, keys and NODE. */
bool request_has_node(const dcoll_request_t *q);
size_t request_node_bytes(const dcoll_request_t *q);
/* It is mapped. */
void request_use_node(dcoll_request_t *q);

#endif
