/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/engine/reserve.h"

#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

struct reserve {
    struct peer *peer;
    uint32_t rails, eps;
};

/* An owed_t that takes the credits when it returns 1. */
static int try_reserve(drail_t *t, void *arg, uint32_t *owed)
{
    const struct reserve *want = arg;
    struct link *taken[DRAIL_MAX_RAILS * DRAIL_MAX_EPS], *link;
    unsigned n = 0, at = 0;
    int error = atomic_load_explicit(&want->peer->error, memory_order_relaxed);
    (void)t;
    *owed = 0;
    while (!error && (link = peer_next(want->peer, want->rails, &at))) {
        if (!(want->eps & EP_BIT(link->index)))
            continue;
        int rc = link_reserve(link);
        if (rc == DRAIL_EAGAIN)
            *owed |= RAIL_BIT(link->rail->index);
        else if (rc)
            error = rc;
        else
            taken[n++] = link;
    }
    if (!error && !*owed)
        return 1;
    while (n)
        link_unreserve(taken[--n]);
    return error;
}

int links_reserve(drail_t *t, struct peer *peer, uint32_t rails, uint32_t eps,
                  int timeout_ms)
{
    struct reserve want = {.peer = peer, .rails = rails, .eps = eps};
    uint32_t owed;
    int rc = try_reserve(t, &want, &owed);
    if (rc == 0)
        rc = progress_wait_for(peer, try_reserve, &want, timeout_ms);
    return rc < 0 ? rc : 0;
}

void links_unreserve(struct peer *peer, uint32_t rails, uint32_t eps)
{
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, rails, &at)))
        if (eps & EP_BIT(link->index))
            link_unreserve(link);
}
