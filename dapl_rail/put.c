/* SPDX-License-Identifier: BSD-3-Clause */
/* Striped RDMA writes and reads, their requests, and fences. */
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/connection.h"
#include "dapl_rail/engine/teardown.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/request.h"
#include "dapl_rail/engine/reserve.h"
#include "dapl_rail/engine/work.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/links/rdma.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/transfer.h"
#include "dapl_rail/outcome.h"

/* ------------------------------------------------------------- requests */

static int req_wait(drail_t *t, struct req *req, int timeout_ms)
{
    uint32_t rails;
    int rc = progress_wait(t, req_owed, req, 0);
    if (rc != DRAIL_EAGAIN || timeout_ms == 0)
        return rc;
    req_owed(t, req, &rails);
    if (!rails)
        return progress_wait(t, req_owed, req, 0);
    struct work work = {
        .peer = t->peers[req->peer],
        .rails = rails,
        .threads = engine_has_threads(t),
        .owed = req_owed,
        .arg = req,
        .timeout_ms = timeout_or(t, timeout_ms),
        .strict = timeout_ms > 0,
    };
    return engine_run(t, &work);
}

int drail_wait(drail_t *t, drail_req_t *opaque, int timeout_ms)
{
    if (!t)
        return DRAIL_EINVAL;
    if (!opaque || req_of(opaque)->peer >= t->job->size)
        return fail(t, DRAIL_EINVAL, "drail_wait: not a request");
    struct req *req = req_of(opaque);
    int rc = req_wait(t, req, timeout_ms);
    return outcome(t, t->peers[req->peer], rc, "drail_wait");
}

int drail_test(drail_t *t, drail_req_t *opaque)
{
    return drail_wait(t, opaque, 0);
}

void drail_forget(drail_t *t, drail_req_t *opaque)
{
    if (!t || !opaque || req_of(opaque)->peer >= t->job->size)
        return;
    struct req *req = req_of(opaque);
    if (t->peers[req->peer])
        links_forget(t->peers[req->peer], atomic_load(&req->pending), req,
                     NULL);
    atomic_store(&req->pending, 0);
}

/* ------------------------------------------------------------ transfers */

struct room {
    const struct transfer *x;
    uint32_t rails;
};

/* Is there room for the whole transfer on each EP of these rails? If nothing is
 * under way on an EP no more room will come: DTOs without an event at the end
 * of a queue give their room back only with later ones. */
static int transfer_room(drail_t *t, void *arg, uint32_t *owed)
{
    const struct room *room = arg;
    struct link *link;
    unsigned at = 0;
    (void)t;
    *owed = 0;
    while ((link = peer_next(room->x->peer, room->rails, &at))) {
        const struct rail *rail = link->rail;
        size_t bytes = room->x->xfer->bytes;
        size_t most = rdma_most(rail, bytes), parts = bytes / most;
        /* behind a long part there may be a report (rdma_post_several) */
        bool reports = room->x->reports && most >= PART_LEAST;
        uint64_t need = (reports ? 2 * parts : parts) + 2;
        int left = link_room(link);
        if (left < 0)
            return left;
        bool more_comes = link->queue.ops_head != link->queue.ops_tail;
        if (more_comes && (unsigned)left < need)
            *owed |= RAIL_BIT(rail->index);
    }
    return !*owed;
}

static int room_now(drail_t *t, const struct transfer *x, uint32_t rails)
{
    struct room room = {.x = x, .rails = rails};
    return progress_wait(t, transfer_room, &room, 0);
}

/* Takes a credit on every EP, if there is room as well; or neither. */
static int put_hold(drail_t *t, const struct transfer *x, uint32_t rails)
{
    int rc = links_reserve(t, x->peer, rails, UINT32_MAX, 0);
    if (rc)
        return rc;
    rc = room_now(t, x, rails);
    if (rc)
        links_unreserve(x->peer, rails, UINT32_MAX);
    return rc;
}

/* Cuts the put, with credits for its notification. */
static int put_prepare(drail_t *t, struct transfer *x, unsigned flags)
{
    uint32_t held = 0;
    int rc = 0;
    x->reports = flags & DRAIL_NOTIFY; /* the peer may be waiting for it */
    /* before the cut, which counts messages: the caller may try again */
    if (flags & DRAIL_NOTIFY && flags & DRAIL_NOWAIT) {
        held = engine_rails(t, x->reach);
        rc = put_hold(t, x, held);
        if (rc)
            return rc;
    }
    transfer_cut(t, x, flags);
    if (!(flags & DRAIL_NOTIFY))
        return 0;
    x->note.rails =
        x->data | (flags & DRAIL_ALL_RAILS ? engine_rails(t, x->reach) : 0);
    if (held) {
        links_unreserve(x->peer, held & ~x->note.rails, UINT32_MAX);
        links_unreserve(x->peer, x->note.rails, ~x->note.eps);
    } else {
        rc = links_reserve(t, x->peer, x->note.rails, x->note.eps,
                           t->cfg.timeout_ms);
    }
    if (rc)
        transfer_abandon(t, x);
    return rc;
}

/* Not inlined: it needs much stack. */
__attribute__((noinline)) static int put_any(drail_t *t, struct peer *peer,
                                             const drail_xfer_t *xfer,
                                             unsigned flags, uint32_t id,
                                             drail_req_t *req)
{
    struct transfer x;
    transfer_init(&x, peer, xfer, VERB_WRITE);
    int rc = put_prepare(t, &x, flags);
    if (rc)
        return outcome(t, peer, rc, "drail_put");
    if (x.note.rails) {
        x.note.seq = peer->mail->note_seq;
        x.note.id = id;
    }
    if (xfer->bytes == 0)
        x.data = 0;
    rc = transfer_start(t, &x, req ? req_of(req) : NULL);
    if (!rc && x.note.rails)
        peer->mail->note_seq++;
    return outcome(t, peer, rc, "drail_put");
}

int drail_put(drail_t *t, unsigned rank, const drail_xfer_t *xfer,
              unsigned flags, uint32_t id, drail_req_t *req)
{
    int rc;
    struct peer *peer = peer_get(t, rank, flags & DRAIL_NOWAIT ? 0 : -1, &rc);
    if (!peer)
        return rc;
    if (!xfer || flags / DRAIL_ON_RAIL(0) > t->nrails ||
        flags % DRAIL_ON_RAIL(0) & ~(unsigned)(DRAIL_NOTIFY | DRAIL_ALL_RAILS |
                                               DRAIL_NOWAIT | DRAIL_EAGER))
        return fail(t, DRAIL_EINVAL, "drail_put: flags 0x%x", flags);
    rc = xfer_check(t, xfer);
    if (rc)
        return rc;
    if (!(flags & (DRAIL_NOTIFY | DRAIL_ALL_RAILS | DRAIL_EAGER)) &&
        transfer_plain(t, peer, xfer, flags, req ? req_of(req) : NULL))
        return 0;
    return put_any(t, peer, xfer, flags, id, req);
}

int drail_get(drail_t *t, unsigned rank, const drail_xfer_t *xfer,
              unsigned flags, drail_req_t *req)
{
    int rc;
    struct peer *peer = peer_get(t, rank, flags & DRAIL_NOWAIT ? 0 : -1, &rc);
    if (!peer)
        return rc;
    if (!xfer || flags / DRAIL_ON_RAIL(0) > t->nrails ||
        flags % DRAIL_ON_RAIL(0) & ~(unsigned)DRAIL_NOWAIT)
        return fail(t, DRAIL_EINVAL, "drail_get: flags 0x%x", flags);
    rc = xfer_check(t, xfer);
    if (rc)
        return rc;
    struct transfer x;
    transfer_init(&x, peer, xfer, VERB_READ);
    if (xfer->bytes && flags & DRAIL_NOWAIT)
        rc = room_now(t, &x, engine_rails(t, x.reach));
    if (rc)
        return outcome(t, peer, rc, "drail_get");
    if (xfer->bytes)
        transfer_cut(t, &x, flags);
    rc = transfer_start(t, &x, req ? req_of(req) : NULL);
    return outcome(t, peer, rc, "drail_get");
}

/* ---------------------------------------------------------------- fences */

/* A link that has ended counts when nothing is under way on it any more. If no
 * event will report the end of the last DTO, asks for one when there is room.
 */
static int try_fence(drail_t *t, void *arg, uint32_t *owed)
{
    const struct peer *peer = arg;
    struct link *link;
    unsigned at = 0;
    int error = 0;
    (void)t;
    *owed = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        if (link->queue.retired < link->queue.fence_at) {
            *owed |= RAIL_BIT(link->rail->index);
            if (link->queue.signalled < link->queue.fence_at &&
                link->state < LINK_DOWN)
                link_mark(link);
        } else if (link->state >= LINK_DOWN) {
            error = link->error;
        }
    }
    return *owed ? 0 : error ? error : 1;
}

int drail_fence(drail_t *t, unsigned rank)
{
    int rc;
    struct peer *peer = peer_find(t, rank, &rc);
    if (!peer)
        return rc;
    if (!peer->connected)
        return 0;
    rc = progress_wait_for(peer, try_fence, peer, t->cfg.timeout_ms);
    return outcome(t, peer, rc, "drail_fence");
}
