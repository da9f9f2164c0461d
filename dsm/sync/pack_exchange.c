/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/sync/pack_exchange.h"

#include "dsm/sync/control.h"
#include "dsm/sync/pack_server.h"
#include "dsm/sync/peer_wait.h"

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
            rc = pack_settle(d, r);
    }
    return rc || !any ? rc : peer_wait_run(d, d->meet_request, "barrier");
}

static bool has_part(const ddsm_t *d, unsigned home)
{
    return d->control.pack_parts[home].bytes;
}

/* All homes at once. */
static int ask(ddsm_t *d)
{
    struct control *c = &d->control;
    int rc = 0;
    for (unsigned home = 0; home < d->size && !rc; home++) {
        uint64_t *number = &c->pack_numbers[home];
        if (!has_part(d, home))
            continue;
        ++*number;
        rc = control_post(d, home,
                          c->packs_asked_offset + d->rank * sizeof *number,
                          number, sizeof *number);
    }
    return rc;
}

static int await_home(ddsm_t *d, unsigned home)
{
    const struct control *c = &d->control;
    struct peer_wait peer_wait = peer_wait_begin(d);
    int rc = 0;
    while (!rc && atomic_load(&c->packs_done[home]) != c->pack_numbers[home])
        rc = peer_wait_inside(d, &peer_wait);
    if (rc == DRAIL_ETIMEOUT && !d->broken)
        space_break(d, space_fail(d, rc,
                                  "rank %u has not taken changes of its pages "
                                  "for %d ms",
                                  home, d->cfg.wait_ms));
    return rc;
}

int pack_deliver(ddsm_t *d)
{
    int rc = ask(d);
    for (unsigned home = 0; home < d->size && !rc; home++)
        if (has_part(d, home))
            rc = await_home(d, home);
    return rc;
}
