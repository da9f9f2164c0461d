/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_notify and the calls that take notifications. */
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/connection.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/note.h"
#include "dapl_rail/outcome.h"

int drail_notify(drail_t *t, unsigned peer, unsigned flags, uint32_t id)
{
    drail_xfer_t nothing = {0};
    return drail_put(t, peer, &nothing, flags | DRAIL_NOTIFY, id, NULL);
}

static void take(struct peer *peer, uint32_t *id)
{
    uint32_t value = note_deliver(peer);
    if (id)
        *id = value;
}

/* A rank that does not poll sleeps long where one rail is likely: then a guess
 * by the last two notifications is wrong too often. */
static uint32_t likely_rails(const drail_t *t, const struct peer *peer)
{
    const struct inbox *notes = &peer->mail->notes;
    uint32_t rails = t->spin.max_ns ? notes->likely : inbox_recent(notes);
    return rails ? rails : engine_rails(t, peer_reach(peer));
}

int drail_notify_wait(drail_t *t, unsigned rank, uint32_t *id, int timeout_ms)
{
    int rc;
    if (!t)
        return DRAIL_EINVAL;
    bool strict = timeout_ms >= 0; /* the time is the caller's */
    timeout_ms = timeout_or(t, timeout_ms);
    struct peer *peer = peer_get(t, rank, timeout_ms, &rc);
    if (!peer)
        return rc;
    struct note_wait w = {.peer = peer, .rails = likely_rails(t, peer)};
    rc = strict ? progress_wait(t, note_owed, &w, timeout_ms)
                : progress_wait_for(peer, note_owed, &w, timeout_ms);
    if (rc)
        return outcome(t, peer, rc, "drail_notify_wait");
    take(peer, id);
    return 0;
}

int drail_notify_any(drail_t *t, unsigned from, unsigned *rank)
{
    if (!t)
        return DRAIL_EINVAL;
    if (!rank)
        return fail(t, DRAIL_EINVAL, "drail_notify_any: no room for the rank");
    unsigned next = note_next(t, from);
    if (next >= t->job->size)
        return DRAIL_EAGAIN;
    *rank = next;
    return 0;
}

int drail_notify_test(drail_t *t, unsigned rank, uint32_t *id)
{
    int rc;
    uint32_t rails;
    struct peer *peer = peer_find(t, rank, &rc);
    if (!peer)
        return rc;
    struct note_wait w = {.peer = peer};
    rc = peer->connected ? note_owed(t, &w, &rails) : 0;
    if (rc > 0)
        take(peer, id);
    return rc > 0    ? 0
           : rc == 0 ? DRAIL_EAGAIN
                     : outcome(t, peer, rc, "drail_notify_test");
}
