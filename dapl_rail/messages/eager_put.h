/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager puts: a short put travels with its notification, as one message instead
 * of an RDMA write and a message. The bytes are copied into a send slot, where
 * they stay until the peer has them, and at the target out of the receive slot.
 */
#ifndef DRAIL_MESSAGES_EAGER_PUT_H
#define DRAIL_MESSAGES_EAGER_PUT_H

#include "dapl_rail/dapl_rail.h"

struct link;
struct note;
struct slot;

/* Sends the link's part of the put, of up to EAGER_POLLED_BYTES, and of its
 * notification. The caller has reserved a credit. DRAIL_EAGAIN: no room. */
int eager_put_send(struct link *link, const struct note *note,
                   const drail_xfer_t *xfer, const drail_chunk_t *chunk);
/* Of link_handlers. */
const char *eager_put_arrived(struct slot *slot);

#endif
