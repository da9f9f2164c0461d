/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/sync/pack_server.h"

#include "dsm/pages/pack.h"
#include "dsm/sync/control.h"

static int wrong(ddsm_t *d, unsigned rank)
{
    return space_break(
        d, space_fail(d, DRAIL_EDAT, "rank %u has packed wrong changes", rank));
}

int pack_settle(ddsm_t *d, unsigned rank)
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

/* The rank's next request says that the answer has arrived. */
static int serve(ddsm_t *d, unsigned rank, uint64_t number)
{
    struct control *c = &d->control;
    int rc = pack_settle(d, rank);
    if (rc)
        return rc;
    c->packs_served[rank] = number;
    return control_post(
        d, rank, c->packs_done_offset + d->rank * sizeof *c->packs_served,
        &c->packs_served[rank], sizeof *c->packs_served);
}

int pack_serve(ddsm_t *d)
{
    int rc = d->broken;
    for (unsigned r = 0; d->homes_serve && r < d->size && !rc; r++) {
        const uint64_t number = atomic_load(&d->control.packs_asked[r]);
        if (number > d->control.packs_served[r]) /* old ones may come again */
            rc = serve(d, r, number);
    }
    return rc;
}
