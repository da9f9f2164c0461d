/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/sync/pack_exchange.h"

#include "dsm/pages/pack.h"
#include "dsm/sync/control.h"
#include "dsm/sync/peer_wait.h"

static int wrong(ddsm_t *d, unsigned rank)
{
    return space_break(
        d, space_fail(d, DRAIL_EDAT, "rank %u has packed wrong changes", rank));
}

static int settle_with(ddsm_t *d, unsigned rank)
{
    struct control *c = &d->control;
    int rc = control_read(d, rank,
                          c->pack_parts_offset + d->rank * sizeof *c->read_part,
                          c->read_part, sizeof *c->read_part);
    const struct pack_part part = *c->read_part;
    if (rc || !part.bytes)
        return rc;
    if (part.bytes > c->pack_room || part.offset > c->pack_room - part.bytes)
        return wrong(d, rank);
    rc = control_read(d, rank, c->pack_offset + part.offset, c->read_pack,
                      part.bytes);
    if (!rc && !pack_apply(d, c->read_pack, c->read_pack + part.bytes))
        rc = wrong(d, rank);
    return rc;
}

int pack_exchange(ddsm_t *d)
{
    bool any = false;
    int rc = 0;
    /* not all homes read from one rank at a time */
    for (unsigned i = 0; i < d->size && !rc; i++) {
        const unsigned r = (d->rank + i) % d->size;
        const bool has = d->control.arrivals[r].packed_from != UINT64_MAX;
        any |= has;
        if (has && r != d->rank)
            rc = settle_with(d, r);
    }
    return rc || !any ? rc : peer_wait_run(d, d->meet_request, "barrier");
}
