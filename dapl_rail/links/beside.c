/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/beside.h"

#include <stdlib.h>

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

int beside_open(struct link *link)
{
    struct beside *own = link->journal ? calloc(1, sizeof *own) : NULL;
    set(link, own ? own : (struct beside *)&alone);
    return link->journal && !own ? DRAIL_ENOMEM : 0;
}

void beside_close(struct link *link)
{
    if (of(link) == &alone)
        return;
    free(link->carrier->ring);
    free(of(link));
}
