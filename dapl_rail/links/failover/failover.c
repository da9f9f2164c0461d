/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/failover.h"

#include <stdlib.h>

#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"

static const struct failover none;

int failover_open(struct link *link)
{
    struct failover *own =
        link->journal.records ? calloc(1, sizeof *own) : NULL;
    link->failover = own ? own : (struct failover *)&none;
    if (own) {
        own->loss.epoch_sent = own->loss.epoch_heard = NO_EPOCH;
    } else if (link->journal.records) {
        journal_close(link);
        return DRAIL_ENOMEM;
    }
    return 0;
}

void failover_close(struct link *link)
{
    if (link->failover != &none)
        free(link->failover);
}

void failover_reset(struct link *link)
{
    if (link->failover == &none) /* it has no other EP than the first */
        return;
    link->failover->carrier = (struct carrier){0};
    link->failover->incoming = (struct incoming){0};
    link->failover->heartbeat = (struct heartbeat){0};
}
