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
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, rails, &at)))
        link_down(link, code, "%s", why);
    progress_until(t, link_flushed, peer, rails, FLUSH_MS);
}
