/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/socket.h>

#include "providers/shm/connect/abort.h"

void shm_abort(struct core_ep *ep)
{
    struct shm_conn *c = ep->tp;
    if (!c || atomic_exchange(&c->aborted, true))
        return;
    /* Both managers see the end of the socket and do the rest. */
    if (c->fd >= 0)
        shutdown(c->fd, SHUT_RDWR);
}
