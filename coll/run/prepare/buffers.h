/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_BUFFERS_H
#define DCOLL_BUFFERS_H

#include "coll/run/request.h"

/* Sets the user's buffers and registers them if the transport uses them. */
int request_bind(dcoll_request_t *q, const void *send, void *recv);
/* An error: a peer is inside one of them. */
int request_unbind(dcoll_request_t *q);

#endif
