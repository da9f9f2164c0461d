/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in a child process: none. Only locks must be right. */
#include "providers/core/collectives/collectives.h"

void core_collectives_forked(struct core_ia *ia)
{
    if (!ia->collectives)
        return;
    /* a thread of the parent may have held it, or waited for it */
    pthread_mutex_init(&ia->collectives->lock, NULL);
    atomic_store(&ia->collectives->wanted, 0);
}
