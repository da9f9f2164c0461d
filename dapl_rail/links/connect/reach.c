/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/reach.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/roster.h"
#include "dapl_rail/links/peer.h"

/* The rails that reach the rank. *inside: they do not leave the host, though
 * others would. */
static uint32_t reach_of(const drail_t *t, unsigned rank, bool *inside)
{
    const struct peer *peer = t->peers[rank];
    uint32_t outside = roster_outside(t, t->job->rank, rank);
    uint32_t between = roster_between(t, t->job->rank, rank);
    uint32_t rails = peer ? peer->rails : between;
    *inside = outside && outside != between && rails != outside;
    return rails;
}

/* Rails that reach a rank outside this host, if there is one: most can be
 * gained there. */
bool reach_measured(drail_t *t)
{
    uint32_t rails = 0, before = t->measured;
    unsigned size = roster_has_inside(t->roster) ? t->job->size : 0;
    for (unsigned p = 0; p < size; p++) {
        bool inside;
        uint32_t reach = p == t->job->rank ? 0 : reach_of(t, p, &inside);
        if (reach && (!rails || !inside))
            rails = reach;
    }
    t->reach_changed = false;
    t->measured = rails ? rails : all_rails(t);
    return t->measured != before;
}
