/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/engine/teardown.h"

#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"

#define FLUSH_MS 1000

int links_end(drail_t *t, struct peer *peer, int code, const char *why)
{
    progress_check(t); /* if the peer has ended the links, that is the reason */
    bool gone = code == DRAIL_ETIMEOUT || code == DRAIL_EINTR;
    int later = gone ? DRAIL_EPEER : code;
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at)))
        link_down(link, later, "%s (%s)", why, drail_strerror(code));
    progress_until(t, link_flushed, peer, UINT32_MAX, FLUSH_MS);
    return later;
}

void links_await_free(drail_t *t, const struct peer *peer)
{
    progress_until(t, NULL, peer, 0, FLUSH_MS);
}

void links_forget(struct peer *peer, uint32_t rails, const struct req *req,
                  const struct timed_message *message)
{
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, rails, &at)))
        link_forget(link, req, message);
}
