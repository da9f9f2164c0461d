/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications without data, and waiting for one. */
#include "dapl_rail/base/handle.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/note.h"
#include "dapl_rail/outcome.h"
#include "dapl_rail/peers.h"

int drail_notify(drail_t *t, unsigned peer, unsigned flags, uint32_t id)
{
    drail_xfer_t nothing = {0};
    return drail_put(t, peer, &nothing, flags | DRAIL_NOTIFY, id, NULL);
}

int drail_notify_wait(drail_t *t, unsigned rank, uint32_t *id, int timeout_ms)
{
    int rc;
    if (!t)
        return DRAIL_EINVAL;
    timeout_ms = timeout_or(t, timeout_ms);
    struct peer *peer = peer_get(t, rank, timeout_ms, &rc);
    if (!peer)
        return rc;
    struct note_wait w = {.peer = peer, .rails = peer->mail->notes.likely};
    if (!w.rails)
        w.rails = engine_rails(t, peer_reach(peer));
    rc = progress_wait(t, note_owed, &w, timeout_ms);
    if (rc)
        return outcome(t, peer, rc, "drail_notify_wait");
    uint32_t value = note_deliver(peer);
    if (id)
        *id = value;
    return 0;
}
