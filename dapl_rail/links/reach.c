/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/reach.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/peer.h"

static bool reached_inside(const struct peer *peer)
{
    return peer->outside && peer->rails != peer->outside;
}

/* Those by which a rank is reached outside this host, if there is one: there
 * most is to be gained. */
bool reach_measured(drail_t *t)
{
    uint32_t rails = 0, before = t->measured;
    for (unsigned p = 0; p < t->job->size; p++) {
        const struct peer *peer = &t->peers[p];
        uint32_t reach = p == t->job->rank ? 0 : peer->rails;
        if (reach && (!rails || !reached_inside(peer)))
            rails = reach;
    }
    t->measured = rails ? rails : all_rails(t);
    return t->measured != before;
}
