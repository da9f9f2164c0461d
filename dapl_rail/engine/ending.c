/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/engine/ending.h"

#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

#define FLUSH_MS 1000

void links_end(drail_t *t, struct peer *peer, uint32_t rails, int code,
               const char *why)
{
    for (uint32_t left = rails; left; left &= left - 1)
        link_down(peer->links[__builtin_ctz(left)], code, "%s", why);
    progress_until(t, link_flushed, peer, rails, FLUSH_MS);
}
