/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/transfer.h"

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/request.h"
#include "dapl_rail/engine/reserve.h"
#include "dapl_rail/engine/teardown.h"
#include "dapl_rail/engine/work.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/rdma.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/eager_put.h"
#include "dapl_rail/messages/note.h"
#include "dapl_rail/messages/pick_rail.h"
#include "dapl_rail/stripe/spread.h"
#include "dapl_rail/stripe/tuning/cut.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/timing.h"

/* Not an initialiser, which would clear all parts for every short message. */
void transfer_init(struct transfer *x, struct peer *peer,
                   const drail_xfer_t *xfer, enum verb verb)
{
    x->peer = peer;
    x->xfer = xfer;
    x->verb = verb;
    x->reach = peer_reach(peer);
    x->data = x->note.rails = 0;
    x->note.eps = EP_BIT(0);
    x->threads = x->eager = x->reports = false;
    x->req = NULL;
    x->message = NULL;
    for (unsigned r = 0; r < peer->owner->nrails; r++) {
        x->parts[r].posted = 0;
        x->parts[r].done = 0;
    }
}

static bool under_way(const struct peer *peer)
{
    const struct link *link;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
        if (link->queue.retired < link->queue.fence_at)
            return true;
    return false;
}

/* The rail that the caller names, if it reaches the peer; else one of those
 * that do, in turn. */
static unsigned reaching(drail_t *t, uint32_t reach, unsigned rail)
{
    if (reach & RAIL_BIT(rail))
        return rail;
    for (unsigned n = t->turn++ % (unsigned)__builtin_popcount(reach); n; n--)
        reach &= reach - 1;
    return (unsigned)__builtin_ctz(reach);
}

/* The rail that the caller has chosen, from 1 on; 0: none. */
static unsigned choice_of(const drail_t *t, unsigned flags)
{
    return t->cfg.engine == DRAIL_ENGINE_SINGLE ? 0 : flags / DRAIL_ON_RAIL(0);
}

static unsigned whole_rail(drail_t *t, const struct transfer *x, unsigned flags)
{
    unsigned rail = choice_of(t, flags);
    return rail ? reaching(t, x->reach, rail - 1)
                : pick_rail(x->peer, x->reach, x->xfer->bytes);
}

static void take_chunks(struct transfer *x, const drail_chunk_t *chunks, int n)
{
    for (int i = 0; i < n; i++) {
        x->parts[chunks[i].rail].chunk = chunks[i];
        x->data |= RAIL_BIT(chunks[i].rail);
    }
}

/* Striped eager puts may be shorter than others, as a part costs one message
 * only. */
static int eager_chunks(drail_t *t, const struct transfer *x, unsigned flags,
                        drail_chunk_t *chunks)
{
    size_t bytes = x->xfer->bytes;
    if (!choice_of(t, flags) && bytes >= t->cfg.stripe_threshold / 2 &&
        cut_spreads(t, x->reach, bytes))
        return cut_parts(t, x->reach, bytes, chunks);
    chunks[0] =
        (drail_chunk_t){.rail = whole_rail(t, x, flags), .bytes = bytes};
    return 1;
}

/* Policy adaptive must time longer puts, and eager ones are not timed. */
static size_t eager_most(const drail_t *t)
{
    return t->cfg.policy == DRAIL_POLICY_ADAPTIVE
               ? EAGER_POLLED_BYTES
               : (size_t)t->nrails * EAGER_POLLED_BYTES;
}

/* Makes it an eager put, if the target's processor would move the data anyway:
 * one message is less work than a write and a notification, and needs no
 * acknowledgement of its own. */
static bool cut_eager(drail_t *t, struct transfer *x, unsigned flags)
{
    const unsigned needed = DRAIL_EAGER | DRAIL_NOTIFY;
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    if ((flags & needed) != needed || !x->xfer->bytes ||
        x->xfer->bytes > eager_most(t))
        return false;
    const unsigned turn = t->turn;
    const int n = eager_chunks(t, x, flags, chunks);
    for (int i = 0; i < n; i++)
        if (chunks[i].bytes > EAGER_POLLED_BYTES ||
            !t->rails[chunks[i].rail].info.is_polled) {
            t->turn = turn; /* for transfer_cut() */
            return false;
        }
    take_chunks(x, chunks, n);
    x->note.eps = EP_BIT(x->peer->turn++ % t->cfg.eps);
    x->eager = true;
    return true;
}

void transfer_cut(drail_t *t, struct transfer *x, unsigned flags)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    if (cut_eager(t, x, flags))
        return;
    struct route route =
        route_next(t, x->reach, x->verb == VERB_READ, x->xfer->bytes, 1);
    uint64_t start = route.timed ? job_now(t->job) : 0;
    int n = cut_message(t, x->xfer->bytes, &route, chunks);
    bool chosen =
        choice_of(t, flags) || cut_spreads(t, x->reach, x->xfer->bytes);
    if (chosen && x->xfer->bytes < t->cfg.stripe_threshold)
        chunks[0].rail = whole_rail(t, x, flags);
    take_chunks(x, chunks, n);
    x->note.eps = spread_over(t, x->xfer->bytes, chunks, n, &x->peer->turn);
    x->threads = route.threads;
    if (!route.timed)
        return;
    if (!under_way(x->peer))
        t->timing->gap = false;
    x->message = timing_start(t, &route, chunks, n,
                              (unsigned)__builtin_popcount(x->note.eps), start);
}

static void account(struct rail *rail, enum verb verb, size_t bytes)
{
    if (verb == VERB_WRITE) {
        rail->stats.puts++;
        rail->stats.put_bytes += bytes;
    } else {
        rail->stats.gets++;
        rail->stats.get_bytes += bytes;
    }
}

/* Posts the share, or the rest of it. */
static int post_share(struct link *link, enum verb verb,
                      const drail_xfer_t *xfer, const drail_chunk_t *share,
                      size_t *posted, bool reports,
                      const struct completion *done, const uint32_t *immed)
{
    struct rdma rdma;
    rdma_init(&rdma, link, verb, xfer, share);
    rdma.posted = *posted;
    rdma.reports = reports;
    const uint64_t before = link->queue.posted;
    int rc = rdma_post(&rdma, done, immed);
    *posted = rc ? rdma.posted : share->bytes;
    if (link->queue.posted != before)
        link->queue.fence_at = link->queue.posted;
    if (!rc)
        account(link->rail, verb, share->bytes);
    return rc;
}

/* Posts the EP's share of the rail's chunk, or the rest of it. */
static int post_data(struct link *link, struct transfer *x,
                     const struct completion *done, const uint32_t *immed)
{
    struct rail *rail = link->rail;
    struct transfer_part *part = &x->parts[rail->index];
    drail_chunk_t cut;
    const drail_chunk_t *share =
        spread_part(rail->owner, &part->chunk, x->note.eps, link->index, &cut);
    if (part->posted == share->bytes)
        return 0;
    return post_share(link, x->verb, x->xfer, share, &part->posted, x->reports,
                      done, immed);
}

static int post_eager(struct link *link, struct transfer *x)
{
    const drail_chunk_t *chunk = &x->parts[link->rail->index].chunk;
    int rc = eager_put_send(link, &x->note, x->xfer, chunk);
    if (!rc)
        account(link->rail, VERB_WRITE, chunk->bytes);
    return rc;
}

/* Posts data and their notification, as immediate data or after them. */
static int post_notified(struct link *link, struct transfer *x,
                         const struct completion *done)
{
    uint32_t immed;
    if (note_immed(link, &x->note, &immed))
        return post_data(link, x, done, &immed);
    int rc = post_data(link, x, NULL, NULL);
    return rc ? rc : note_send(link, &x->note, done);
}

/* Does its completion need an event? Else only a fence asks for it, perhaps
 * never, and the target need not acknowledge it by itself. Transfers that are
 * not timed, but go between timed ones, must be known to be complete. */
static bool is_awaited(const drail_t *t, const struct transfer *x)
{
    return x->req || x->message || x->verb == VERB_READ ||
           (x->data && t->timing->gap);
}

/* Posts one EP's share; called again if there was no room. */
static int transfer_ep(struct link *link, struct transfer *x)
{
    const struct transfer_part *part = &x->parts[link->rail->index];
    uint32_t bit = RAIL_BIT(link->rail->index);
    struct completion all = {.ended = req_part_ended, .req = x->req};
    const struct completion *done =
        is_awaited(link->rail->owner, x) ? &all : NULL;
    if (!(x->data & bit))
        return note_send(link, &x->note, done);
    if (x->eager)
        return post_eager(link, x);
    all.bytes = part->chunk.bytes;
    all.message = x->message;
    all.start_ns = x->message ? part->start_ns : 0;
    return x->note.rails & bit ? post_notified(link, x, done)
                               : post_data(link, x, done, NULL);
}

/* Posts one rail's part; called again if there was no room. */
static int transfer_rail(struct rail *rail, void *arg, unsigned round)
{
    (void)round;
    struct transfer *x = arg;
    struct transfer_part *part = &x->parts[rail->index];
    if (x->message && !part->done && !part->posted)
        part->start_ns = job_now(rail->owner->job);
    for (uint32_t left = x->note.eps & ~part->done; left; left &= left - 1) {
        unsigned ep = (unsigned)__builtin_ctz(left);
        int rc = transfer_ep(peer_link(x->peer, rail->index, ep), x);
        if (rc)
            return rc;
        part->posted = 0;
        part->done |= EP_BIT(ep);
    }
    /* timed: a completion is seen before other rails are posted on.
     * parallel: this core handles completions while they are in its cache */
    if (x->message || rail->owner->parallel)
        return rail_poll(rail) < 0 ? DRAIL_EDAT : 0;
    return 0;
}

void transfer_abandon(drail_t *t, struct transfer *x)
{
    if (x->message)
        timing_abandon(t, x->message);
}

/* Has anything of it been posted? */
static bool has_begun(const struct transfer *x, uint32_t rails)
{
    for (; rails; rails &= rails - 1) {
        unsigned r = (unsigned)__builtin_ctz(rails);
        if (x->parts[r].done || x->parts[r].posted)
            return true;
    }
    return false;
}

static int transfer_failed(drail_t *t, struct transfer *x, uint32_t rails,
                           int rc)
{
    int later = rc;
    if (has_begun(x, rails) || atomic_load(&x->peer->error))
        later = links_end(t, x->peer, rc,
                          "a transfer failed after part of it was posted");
    else
        links_unreserve(x->peer, x->note.rails, x->note.eps);
    links_forget(x->peer, rails, x->req, x->message);
    transfer_abandon(t, x);
    if (x->req) {
        atomic_store(&x->req->pending, 0);
        atomic_store(&x->req->status, later);
    }
    return rc;
}

/* Posts all of it, or as much as there is room for within the time. */
static int transfer_post(drail_t *t, struct transfer *x, int timeout_ms)
{
    uint32_t rails = x->data | x->note.rails;
    int rc = DRAIL_EAGAIN;
    if (!rails)
        return 0;
    /* on one rail all engines do the same */
    if (!(rails & (rails - 1)))
        rc = transfer_rail(&t->rails[__builtin_ctz(rails)], x, 0);
    if (rc == DRAIL_EAGAIN) {
        struct work work = {
            .peer = x->peer,
            .rails = rails,
            .threads = x->threads,
            .post = transfer_rail,
            .rounds = 1,
            .arg = x,
            .timeout_ms = timeout_ms,
        };
        rc = engine_run(t, &work);
    }
    return rc;
}

/* Sets the rail of a transfer that needs no decision: the one that the caller
 * has chosen, or the lowest of the route. False: it needs one; also if the
 * chosen rail does not reach the peer, as others then take turns. */
static bool choose_plain(const drail_t *t, uint32_t reach, size_t bytes,
                         unsigned flags, unsigned *rail)
{
    struct route route;
    const unsigned choice = choice_of(t, flags);
    if (!route_is_untimed(t, reach, bytes, &route) || !bytes ||
        t->cfg.eps > 1 || t->timing->gap || t->parallel)
        return false;
    if (choice && bytes < t->cfg.stripe_threshold) {
        *rail = choice - 1;
        return reach & RAIL_BIT(*rail);
    }
    *rail = (unsigned)__builtin_ctz(route.rails);
    return cut_is_plain(t, bytes, route.rails) && !cut_spreads(t, reach, bytes);
}

/* The short form of init, cut and start, for a transfer that is not timed. */
bool transfer_plain(drail_t *t, struct peer *peer, const drail_xfer_t *xfer,
                    unsigned flags, struct req *req)
{
    const struct completion done = {.ended = req_part_ended, .req = req};
    size_t posted = 0;
    drail_chunk_t whole = {.bytes = xfer->bytes};
    if (!choose_plain(t, peer_reach(peer), whole.bytes, flags, &whole.rail))
        return false;
    struct link *link = peer_link(peer, whole.rail, 0);
    if (whole.bytes > rdma_most(link->rail, whole.bytes))
        return false;
    if (req)
        req_start(req, peer, RAIL_BIT(whole.rail), 1);
    return !post_share(link, VERB_WRITE, xfer, &whole, &posted, false,
                       req ? &done : NULL, NULL);
}

static void transfer_request(struct transfer *x, struct req *req)
{
    x->req = x->eager ? NULL : req;
    if (req)
        req_start(req, x->peer, x->eager ? 0 : x->data | x->note.rails,
                  (unsigned)__builtin_popcount(x->note.eps));
}

int transfer_start(drail_t *t, struct transfer *x, struct req *req)
{
    transfer_request(x, req);
    int rc = transfer_post(t, x, t->cfg.timeout_ms);
    return rc ? transfer_failed(t, x, x->data | x->note.rails, rc) : 0;
}

int transfer_try_start(drail_t *t, struct transfer *x, struct req *req)
{
    transfer_request(x, req);
    int rc = transfer_post(t, x, 0);
    if (rc == DRAIL_EAGAIN || rc == DRAIL_ETIMEOUT || rc == DRAIL_EINTR)
        return DRAIL_EAGAIN;
    return rc ? transfer_failed(t, x, x->data | x->note.rails, rc) : 0;
}

int transfer_continue(drail_t *t, struct transfer *x)
{
    uint32_t rails = x->data | x->note.rails;
    int rc = 0;
    for (uint32_t left = rails; left; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        int error = x->parts[r].done == x->note.eps
                        ? 0
                        : transfer_rail(&t->rails[r], x, 0);
        if (error && error != DRAIL_EAGAIN)
            return transfer_failed(t, x, rails, error);
        rc = error ? error : rc;
    }
    return rc;
}
