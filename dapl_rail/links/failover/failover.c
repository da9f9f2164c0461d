/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/failover.h"

#include <stdlib.h>

#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"

static const struct beside alone;

static void set(struct link *link, struct beside *beside)
{
    link->lost = &beside->lost;
    link->carrier = &beside->carrier;
    link->silence = &beside->silence;
}

/* The block of the three: the first of them. */
static struct beside *of(const struct link *link)
{
    return (struct beside *)link->lost;
}

/* Who has a journal has a block of its own, which may be written to. */
int beside_open(struct link *link)
{
    struct beside *own = link->journal ? calloc(1, sizeof *own) : NULL;
    bool failed = link->journal && !own;
    if (own)
        own->lost.told = own->lost.heard = NO_EPOCH;
    set(link, own ? own : (struct beside *)&alone);
    if (!failed)
        return 0;
    journal_close(link);
    link->journal = NULL;
    return DRAIL_ENOMEM;
}

void beside_close(struct link *link)
{
    if (of(link) != &alone)
        free(of(link));
}
