/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds a request to the user's buffers, and registers them where the transport
 * accesses them. */
#ifndef DCOLL_BUFFERS_H
#define DCOLL_BUFFERS_H

#include "coll/run/request.h"

/* 0, or an error of the team. */
int request_bind(dcoll_request_t *q, const void *send, void *recv);
/* Ends their registration. An error: a peer still accesses one of them. */
int request_unbind(dcoll_request_t *q);

#endif
