/* SPDX-License-Identifier: BSD-3-Clause */
/* Striped RDMA writes and reads, their requests, and fences. */
#include <string.h>

#include "dapl_rail/base/clock.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/request.h"
#include "dapl_rail/engine/transfer.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/notify.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/timing.h"
#include "dapl_rail/stripe/weights.h"

_Static_assert(sizeof(struct req) <= sizeof(drail_req_t),
               "drail_req_t is too small");

/* ------------------------------------------------------------- requests */

void req_start(drail_req_t *opaque, struct peer *peer, uint32_t rails)
{
    struct req *req = req_of(opaque);
    atomic_init(&req->pending, rails);
    atomic_init(&req->status, 0);
    req->peer = peer->rank;
}

int req_owed(drail_t *t, void *arg, uint32_t *owed)
{
    struct req *req = arg;
    (void)t;
    *owed = atomic_load_explicit(&req->pending, memory_order_acquire);
    if (*owed)
        return 0;
    int status = atomic_load_explicit(&req->status, memory_order_relaxed);
    return status ? status : 1;
}

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
        .rails = rails,
        .owed = req_owed,
        .arg = req,
        .timeout_ms = timeout_ms,
    };
    return engine_run(t, &work);
}

int drail_wait(drail_t *t, drail_req_t *opaque, int timeout_ms)
{
    if (!t || !opaque || req_of(opaque)->peer >= t->job->size)
        return DRAIL_EINVAL;
    struct req *req = req_of(opaque);
    int rc = req_wait(t, req, timeout_or(t, timeout_ms));
    return outcome(t, &t->peers[req->peer], rc, "drail_wait");
}

int drail_test(drail_t *t, drail_req_t *opaque)
{
    return drail_wait(t, opaque, 0);
}

/* ------------------------------------------------------------ transfers */

int xfer_check(drail_t *t, const drail_xfer_t *x)
{
    if (x->bytes == 0)
        return 0;
    if (!x->local_mem || !x->remote)
        return fail(t, DRAIL_EINVAL,
                    "a transfer needs local and remote memory");
    const drail_mem_t *mem = x->local_mem;
    uintptr_t begin = (uintptr_t)mem->address, at = (uintptr_t)x->local;
    if (at < begin || x->bytes > mem->bytes ||
        at - begin > mem->bytes - x->bytes)
        return fail(t, DRAIL_EINVAL,
                    "%zu bytes are not within the local memory", x->bytes);
    if (x->remote->nrails != t->nrails)
        return fail(t, DRAIL_EINVAL, "the key is for %u rails, not %u",
                    x->remote->nrails, t->nrails);
    if (x->bytes > x->remote->bytes ||
        x->remote_offset > x->remote->bytes - x->bytes)
        return fail(t, DRAIL_EINVAL,
                    "%zu bytes at %lu are not within the remote memory of %lu",
                    x->bytes, (unsigned long)x->remote_offset,
                    (unsigned long)x->remote->bytes);
    return 0;
}

int rdma_post(struct link *link, enum verb verb, const drail_xfer_t *x,
              size_t offset, size_t bytes, const struct completion *done)
{
    unsigned r = link->rail->index;
    size_t left = bytes;
    struct dto d = {
        .verb = verb,
        .local = {.virtual_address = (uintptr_t)x->local + offset},
        .remote = {.virtual_address = x->remote_offset + offset},
    };
    if (x->local_mem)
        d.local.lmr_context = x->local_mem->region->lmr_context[r];
    if (x->remote) {
        d.remote.virtual_address += x->remote->address;
        d.remote.rmr_context = x->remote->rmr_context[r];
    }
    do {
        size_t part = left < link->rail->max_rdma ? left : link->rail->max_rdma;
        d.local.segment_length = d.remote.segment_length = (DAT_SEG_LENGTH)part;
        left -= part;
        int rc = link_post(link, &d, left ? NULL : done);
        if (rc)
            return rc;
        d.local.virtual_address += part;
        d.remote.virtual_address += part;
    } while (left);
    return 0;
}

/* A put or get under way to its rails. */
struct transfer {
    struct peer *peer;
    const drail_xfer_t *xfer;
    enum verb verb;
    drail_chunk_t chunks[DRAIL_MAX_RAILS]; /* by rail */
    uint32_t data;                         /* rails with a chunk */
    uint32_t notify;                       /* rails with a notification */
    uint32_t seq, id;
    struct req *req;
    struct message *message; /* NULL: not timed */
};

/* Not an initialiser: that would clear the chunks of every short message. */
static void transfer_init(struct transfer *x, struct peer *peer,
                          const drail_xfer_t *xfer, enum verb verb)
{
    x->peer = peer;
    x->xfer = xfer;
    x->verb = verb;
    x->data = x->notify = 0;
    x->req = NULL;
    x->message = NULL;
}

static int transfer_rail(struct rail *rail, void *arg, unsigned round)
{
    (void)round;
    const struct transfer *x = arg;
    uint32_t bit = RAIL_BIT(rail->index);
    struct link *link = x->peer->links[rail->index];
    const drail_chunk_t *chunk = &x->chunks[rail->index];
    struct completion done = {.req = x->req};
    int rc = 0;

    if (x->data & bit) {
        done.bytes = chunk->bytes;
        done.message = x->message;
        done.start_ns = x->message ? now_ns() : 0;
        rc = rdma_post(link, x->verb, x->xfer, chunk->offset, chunk->bytes,
                       x->notify & bit ? NULL : &done);
        if (x->verb == VERB_WRITE) {
            rail->stats.puts++;
            rail->stats.put_bytes += chunk->bytes;
        } else {
            rail->stats.gets++;
            rail->stats.get_bytes += chunk->bytes;
        }
    }
    /* what follows the writes on their connection arrives after them */
    if (!rc && x->notify & bit)
        rc = note_send(link, x->seq, x->id, x->notify,
                       x->data & bit || x->req ? &done : NULL);
    if (x->data & bit)
        link->fence_at = link->posted;
    /* timed: the time is that of this rail, not of those posted after it.
     * parallel: what is complete already, this core takes from its cache */
    if (!rc && (x->message || rail->owner->parallel))
        rc = rail_poll(rail) < 0 ? DRAIL_EDAT : 0;
    return rc;
}

static void transfer_cut(drail_t *t, struct transfer *x, unsigned flags)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    bool timed = timing_applies(t, x->xfer->bytes);
    uint64_t start = timed ? now_ns() : 0;
    if (timed)
        timing_harvest(t);
    int n = cut(t, x->xfer->bytes, chunks);
    unsigned rail = flags / DRAIL_ON_RAIL(0);
    if (rail && n == 1 && x->xfer->bytes < t->cfg.stripe_threshold &&
        t->cfg.engine != DRAIL_ENGINE_SINGLE)
        chunks[0].rail = rail - 1;
    for (int i = 0; i < n; i++) {
        x->chunks[chunks[i].rail] = chunks[i];
        x->data |= RAIL_BIT(chunks[i].rail);
    }
    if (timed)
        x->message = timing_start(t, x->xfer->bytes, x->data, start);
}

/* No event of these rails touches them any more; each may be NULL. */
static void ops_forget(struct peer *peer, uint32_t rails, const struct req *req,
                       const struct message *message)
{
    for (; rails; rails &= rails - 1) {
        struct link *link = peer->links[__builtin_ctz(rails)];
        for (uint64_t i = link->ops_tail; i != link->ops_head; i++) {
            struct op *op = &link->ops[i & link->ops_mask];
            if (req && op->req == req)
                op->req = NULL;
            if (message && op->message == message)
                op->message = NULL;
        }
    }
}

void drail_forget(drail_t *t, drail_req_t *opaque)
{
    if (!t || !opaque || req_of(opaque)->peer >= t->job->size)
        return;
    struct req *req = req_of(opaque);
    ops_forget(&t->peers[req->peer], atomic_load(&req->pending), req, NULL);
    atomic_store(&req->pending, 0);
}

/* No event may touch any more what belongs to a failed start. */
static void transfer_abandon(struct transfer *x, uint32_t rails, int status)
{
    ops_forget(x->peer, rails, x->req, x->message);
    if (x->message)
        timing_abandon(x->message);
    if (x->req) {
        atomic_store(&x->req->pending, 0);
        atomic_store(&x->req->status, status);
    }
}

static int transfer_start(drail_t *t, struct transfer *x, drail_req_t *req)
{
    uint32_t rails = x->data | x->notify;
    int rc = 0;
    x->req = req ? req_of(req) : NULL;
    if (req)
        req_start(req, x->peer, rails);
    if (rails & (rails - 1)) {
        struct work work = {
            .rails = rails,
            .post = transfer_rail,
            .rounds = 1,
            .arg = x,
        };
        rc = engine_run(t, &work);
    } else if (rails) { /* one rail: every engine does the same */
        rc = transfer_rail(&t->rails[__builtin_ctz(rails)], x, 0);
    }
    if (!rc)
        return 0;
    transfer_abandon(x, rails, rc);
    if (x->notify)
        link_down(x->peer->links[__builtin_ctz(x->notify)], rc,
                  "a notification could be sent in part only");
    return rc;
}

int drail_put(drail_t *t, unsigned rank, const drail_xfer_t *xfer,
              unsigned flags, uint32_t id, drail_req_t *req)
{
    int rc;
    struct peer *peer = peer_get(t, rank, &rc);
    if (!peer)
        return rc;
    if (!xfer || flags / DRAIL_ON_RAIL(0) > t->nrails ||
        flags % DRAIL_ON_RAIL(0) &
            ~(unsigned)(DRAIL_NOTIFY | DRAIL_ALL_RAILS | DRAIL_NOWAIT))
        return fail(t, DRAIL_EINVAL, "drail_put: flags 0x%x", flags);
    rc = xfer_check(t, xfer);
    if (rc)
        return rc;
    /* before it is cut: what is tried again must not count as messages */
    if (flags & DRAIL_NOTIFY && flags & DRAIL_NOWAIT &&
        (rc = links_reserve(t, peer, engine_rails(t), 0)))
        return outcome(t, peer, rc, "drail_put");
    struct transfer x;
    transfer_init(&x, peer, xfer, VERB_WRITE);
    transfer_cut(t, &x, flags);
    if (flags & DRAIL_NOTIFY) {
        x.notify = x.data | (flags & DRAIL_ALL_RAILS ? engine_rails(t) : 0);
        rc = links_reserve(t, peer, x.notify, t->cfg.timeout_ms);
        if (rc) {
            transfer_abandon(&x, 0, rc);
            return outcome(t, peer, rc, "drail_put");
        }
        x.seq = peer->note_seq++;
        x.id = id;
    }
    if (xfer->bytes == 0)
        x.data = 0;
    return outcome(t, peer, transfer_start(t, &x, req), "drail_put");
}

int drail_get(drail_t *t, unsigned rank, const drail_xfer_t *xfer,
              unsigned flags, drail_req_t *req)
{
    int rc;
    struct peer *peer = peer_get(t, rank, &rc);
    if (!peer)
        return rc;
    if (!xfer || flags / DRAIL_ON_RAIL(0) > t->nrails ||
        flags % DRAIL_ON_RAIL(0))
        return fail(t, DRAIL_EINVAL, "drail_get: flags 0x%x", flags);
    rc = xfer_check(t, xfer);
    if (rc)
        return rc;
    struct transfer x;
    transfer_init(&x, peer, xfer, VERB_READ);
    if (xfer->bytes)
        transfer_cut(t, &x, flags);
    return outcome(t, peer, transfer_start(t, &x, req), "drail_get");
}

/* ---------------------------------------------------------------- fences */

static int fence_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct peer *peer = arg;
    *owed = 0;
    for (unsigned r = 0; r < t->nrails; r++) {
        const struct link *link = peer->links[r];
        if (link->state == LINK_DOWN)
            return link->error;
        if (link->retired < link->fence_at)
            *owed |= RAIL_BIT(r);
    }
    return *owed == 0;
}

int drail_fence(drail_t *t, unsigned rank)
{
    int rc;
    struct peer *peer = peer_get(t, rank, &rc);
    if (!peer)
        return rc;
    rc = progress_wait(t, fence_owed, peer, t->cfg.timeout_ms);
    return outcome(t, peer, rc, "drail_fence");
}
