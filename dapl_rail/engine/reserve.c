/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/engine/reserve.h"

#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/peer.h"

struct reserve {
    struct peer *peer;
    uint32_t rails;
};

/* Has taken them when it returns 1. */
static int reserve_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct reserve *want = arg;
    int error = atomic_load_explicit(&want->peer->error, memory_order_relaxed);
    uint32_t taken = 0;
    (void)t;
    *owed = 0;
    for (uint32_t left = want->rails; left && !error; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        int rc = link_reserve(want->peer->links[r]);
        if (rc == DRAIL_EAGAIN)
            *owed |= RAIL_BIT(r);
        else if (rc)
            error = rc;
        else
            taken |= RAIL_BIT(r);
    }
    if (!error && !*owed)
        return 1;
    links_unreserve(want->peer, taken);
    return error;
}

int links_reserve(drail_t *t, struct peer *peer, uint32_t rails, int timeout_ms)
{
    struct reserve want = {.peer = peer, .rails = rails};
    uint32_t owed;
    int rc = reserve_owed(t, &want, &owed);
    if (rc == 0)
        rc = progress_wait(t, reserve_owed, &want, timeout_ms);
    return rc < 0 ? rc : 0;
}

void links_unreserve(struct peer *peer, uint32_t rails)
{
    for (; rails; rails &= rails - 1)
        link_unreserve(peer->links[__builtin_ctz(rails)]);
}
