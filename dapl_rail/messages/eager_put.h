/* SPDX-License-Identifier: BSD-3-Clause */
/* Short puts that travel with their notification. */
#ifndef DRAIL_MESSAGES_EAGER_PUT_H
#define DRAIL_MESSAGES_EAGER_PUT_H

#include "dapl_rail/dapl_rail.h"

struct link;
struct note;
struct slot;

/* Sends it, up to EAGER_PUT_BYTES, and so the link's part of the notification,
 * for which a credit has been reserved. DRAIL_EAGAIN: no room. */
int eager_put_send(struct link *link, const struct note *note,
                   const drail_xfer_t *xfer);
/* Of link_handlers. */
const char *eager_put_arrived(struct slot *slot);

#endif
