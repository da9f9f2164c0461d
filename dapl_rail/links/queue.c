/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting never waits: without room it returns DRAIL_EAGAIN, and the caller
 * lets everything else go on before it tries again.
 */
#include "dapl_rail/links/queue.h"

#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/at_once.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/room.h"
#include "dapl_rail/rails/fail.h"

/* Copies the bytes to the send slot. */
static void fill_slot(const struct link *link, struct dto *d)
{
    const DAT_LMR_TRIPLET *head = &d->gather->parts[0], *body = head + 1;
    unsigned char *slot = (unsigned char *)(uintptr_t)d->local.virtual_address;
    memcpy(slot, (const void *)(uintptr_t)head->virtual_address,
           head->segment_length);
    if (body->segment_length)
        job_copy(link->rail->owner->job, slot + head->segment_length,
                 (const void *)(uintptr_t)body->virtual_address,
                 body->segment_length);
    d->gather = NULL;
}

/* Without a copy in the send slot, if the provider can and nothing will be
 * appended there. */
static DAT_RETURN post_send(struct link *link, struct dto *d,
                            DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
    struct gather *g = d->gather;
    if (d->grows)
        flags |= DAPL_SEND_GROWS_FLAG;
    if (g && !d->grows &&
        d->local.segment_length <= link->rail->max_inline_send) {
        DAT_RETURN status =
            dat_ep_post_send(link->ep.handle, 2, g->parts, cookie,
                             flags | DAPL_SEND_INLINE_FLAG);
        if (DAT_GET_TYPE(status) != DAT_INSUFFICIENT_RESOURCES)
            return status;
    }
    if (g)
        fill_slot(link, d);
    return dat_ep_post_send(link->ep.handle, 1, &d->local, cookie, flags);
}

/* Inlined: each request passes here. */
static inline __attribute__((always_inline)) DAT_RETURN
post_now(struct link *link, struct dto *d, DAT_DTO_COOKIE cookie,
         DAT_COMPLETION_FLAGS flags)
{
    switch (d->verb) {
    case VERB_WRITE:
        return dat_ep_post_rdma_write(link->ep.handle, 1, &d->local, cookie,
                                      &d->remote, flags);
    case VERB_WRITE_IMMED:
        return dat_ib_post_rdma_write_immed(
            link->ep.handle, 1, &d->local, cookie, &d->remote, d->immed, flags);
    case VERB_READ:
        return dat_ep_post_rdma_read(link->ep.handle, 1, &d->local, cookie,
                                     &d->remote, flags);
    case VERB_SEND:
        return post_send(link, d, cookie, flags);
    case VERB_FETCH_ADD:
        return dat_ib_post_fetch_and_add(link->ep.handle, d->operand, &d->local,
                                         cookie, &d->remote, flags);
    case VERB_CMP_SWAP:
        return dat_ib_post_cmp_and_swap(link->ep.handle, d->compare, d->operand,
                                        &d->local, cookie, &d->remote, flags);
    }
    return DAT_NOT_IMPLEMENTED;
}

DAT_RETURN dto_post(struct link *link, struct dto *d, DAT_DTO_COOKIE cookie,
                    DAT_COMPLETION_FLAGS flags)
{
    return post_now(link, d, cookie, flags);
}

static const char *dto_call(enum verb verb)
{
    static const char *const names[] = {
        "dat_ep_post_rdma_write",    "dat_ib_post_rdma_write_immed",
        "dat_ep_post_rdma_read",     "dat_ep_post_send",
        "dat_ib_post_fetch_and_add", "dat_ib_post_cmp_and_swap",
    };
    return names[verb];
}

static int link_error(struct link *link)
{
    if (link->state == LINK_CONNECTING)
        return rail_fail(link->rail, DRAIL_EPEER, "rank %u: no link yet",
                         link->peer->rank);
    return rail_fail(link->rail, link->error, "rank %u over %s: %s",
                     link->peer->rank, link->rail->info.name,
                     sentence_text(link->why));
}

int link_room(const struct link *link)
{
    if (link->state != LINK_UP && link->state != LINK_LOST)
        return link->state == LINK_CONNECTING ? DRAIL_EPEER : link->error;
    return (int)(link->queue.full_at - link->queue.posted);
}

static DAT_RETURN post_suppressed(struct link *link, struct dto *d)
{
    if (d->verb == VERB_WRITE && dto_write_direct(link, d))
        return DAT_SUCCESS;
    return post_now(link, d, cookie_suppressed(link),
                    DAT_COMPLETION_SUPPRESS_FLAG);
}

/* The place of the next op; allocates its chunk if need be. NULL: out of
 * memory. */
static inline struct op *op_place(struct queue *q)
{
    uint64_t place = q->ops_head & q->ops_mask;
    struct op **chunk = &q->ops[place / OPS_CHUNK];
    if (!*chunk && !(*chunk = alloc_lines(OPS_CHUNK * sizeof **chunk)))
        return NULL;
    return *chunk + place % OPS_CHUNK;
}

/* Fills in the op of the request that is posted next. NULL: out of memory. */
static struct op *op_next(struct link *link, const struct dto *d,
                          const struct completion *done)
{
    struct queue *q = &link->queue;
    struct op *op = op_place(q);
    if (!op)
        return NULL;
    op->link = link;
    op->posted = q->posted + 1;
    op->sent = q->sent + (d->verb == VERB_SEND);
    op->done = done ? *done : (struct completion){0};
    return op;
}

static void op_posted(struct queue *q, const struct op *op)
{
    q->ops_head++;
    q->signalled = op->posted;
    q->sent_signalled = op->sent;
}

static DAT_RETURN post_signalled(struct link *link, struct dto *d,
                                 const struct completion *done)
{
    struct op *op = op_next(link, d, done);
    if (!op)
        return DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)op};
    DAT_RETURN status = post_now(link, d, cookie, DAT_COMPLETION_DEFAULT_FLAG);
    if (status == DAT_SUCCESS)
        op_posted(&link->queue, op);
    return status;
}

static void dto_posted(struct link *link, struct dto *d)
{
    if (d->gather && link->journal.records)
        fill_slot(link, d); /* for a replay */
    journal_keep(&link->journal, link->queue.posted, d);
    link->queue.posted++;
    link->queue.sent += d->verb == VERB_SEND;
}

/* Of a lost link: records the request, for its carrier or its next EP. */
static int post_later(struct link *link, struct dto *d,
                      const struct completion *done)
{
    if (is_atomic(d->verb))
        return rail_fail(link->rail, DRAIL_EPEER,
                         "rank %u: atomics go over %s, which is lost: %s",
                         link->peer->rank, link->rail->info.name,
                         sentence_text(link->why));
    if (!room_make(link))
        return DRAIL_EAGAIN;
    if (done || room_event_due(link, d->verb == VERB_SEND)) {
        const struct op *op = op_next(link, d, done);
        if (!op)
            return DRAIL_EAGAIN;
        op_posted(&link->queue, op);
    }
    dto_posted(link, d);
    peer_unsettle(link->peer);
    return 0;
}

static int post_failed(struct link *link, struct dto *d,
                       const struct completion *done, DAT_RETURN status)
{
    /* The queue may be shorter than the provider has said: it is full until
     * requests complete. */
    if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES &&
        link->queue.ops_head != link->queue.ops_tail) {
        link->queue.full_at = link->queue.posted;
        return DRAIL_EAGAIN;
    }
    int rc = dat_fail(link->rail, dto_call(d->verb), status);
    if (DAT_GET_TYPE(status) != DAT_INVALID_STATE || !link->journal.records ||
        atomic_load(&link->peer->error))
        return rc;
    /* the EP has lost its connection; the event is still to come */
    link->state = LINK_LOST;
    link->post_failed = true;
    sentence_write(&link->why, "%s", link->rail->error.text);
    link->failover->replay.tried = link->queue.posted;
    return post_later(link, d, done);
}

int link_post(struct link *link, struct dto *d, const struct completion *done)
{
    if (link->state != LINK_UP)
        return link->state == LINK_LOST ? post_later(link, d, done)
                                        : link_error(link);
    if (!room_make(link))
        return DRAIL_EAGAIN;
    DAT_RETURN status = done || room_event_due(link, d->verb == VERB_SEND)
                            ? post_signalled(link, d, done)
                            : post_suppressed(link, d);
    if (status != DAT_SUCCESS)
        return post_failed(link, d, done, status);
    dto_posted(link, d);
    return 0;
}

void link_keep_direct(struct link *link, struct dto *d)
{
    fill_slot(link, d);
    journal_keep(&link->journal, link->queue.posted - 1, d);
}

int link_mark(struct link *link)
{
    static const struct completion nobody;
    struct dto d = {
        .verb = VERB_WRITE,
        .local = {.virtual_address = (uintptr_t)link->slots.buffers,
                  .lmr_context = link->slots.lmr_context},
    };
    return link_post(link, &d, &nobody);
}

/* If no op is in use, begins again with the first chunk: so no more chunks are
 * allocated than are in use at once. Not while the link is lost: replay.next_op
 * is such a number. */
static void reuse_chunks(struct link *link)
{
    struct queue *q = &link->queue;
    if (q->ops_tail == q->ops_head && link->state == LINK_UP)
        q->ops_tail = q->ops_head = 0;
}

static void retire_first(struct link *link, int status)
{
    struct queue *q = &link->queue;
    const struct op *op = op_first(q);
    q->ops_tail++;
    q->retired = op->posted;
    q->full_at = q->retired + link->rail->request_depth;
    q->sent_retired = op->sent;
    if (op->done.ended)
        op->done.ended(link, &op->done, status);
    reuse_chunks(link);
}

/* Ops before it may be left: one that was carried over the link's own next EP
 * gets no event of its own when that is flushed. */
void link_retire(struct op *op, int status)
{
    struct link *link = op->link;
    while (op_first(&link->queue) != op)
        retire_first(link, status);
    retire_first(link, status);
}

void link_resume(struct link *link)
{
    link->state = LINK_UP;
    reuse_chunks(link);
}

void link_forget(struct link *link, const struct req *req,
                 const struct timed_message *message)
{
    const struct queue *q = &link->queue;
    for (uint64_t i = q->ops_tail; i != q->ops_head; i++) {
        struct completion *done = &op_at(q, i)->done;
        if (req && done->req == req)
            done->req = NULL;
        if (message && done->message == message)
            done->message = NULL;
    }
}

/* Does a carrier read or write the link's memory? */
static bool is_carried(const struct link *link)
{
    const struct replay *r = &link->failover->replay;
    return r->pending && !r->carrier->queue.last_ended;
}

/* All requests have come back: retires those of a link that is down. */
static void retire_all(struct link *link)
{
    struct queue *q = &link->queue;
    if (link->state != LINK_DOWN || is_carried(link))
        return;
    while (q->ops_tail != q->ops_head)
        link_retire(op_first(q), link->error);
    q->retired = q->posted;
    link->state = LINK_FLUSHED;
}

void link_flush_done(struct link *link)
{
    struct link *other;
    link->queue.last_ended = true;
    retire_all(link);
    /* nothing is pending while several threads are at work */
    for (unsigned at = 0; (other = peer_next(link->peer, UINT32_MAX, &at));) {
        const struct replay *r = &other->failover->replay;
        if (r->pending && r->carrier == link)
            link_flush(other);
    }
}

static DAT_RETURN post_last(struct link *link)
{
    struct dto d = {
        .verb = VERB_SEND,
        .local = {.virtual_address = (uintptr_t)link->slots.buffers,
                  .segment_length = LAST_BYTES,
                  .lmr_context = link->slots.lmr_context},
    };
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)link | COOKIE_LAST};
    return dto_post(link, &d, cookie, DAT_COMPLETION_DEFAULT_FLAG);
}

bool link_post_last(struct link *link)
{
    link->queue.last_posted = post_last(link) == DAT_SUCCESS;
    return link->queue.last_posted;
}

void link_flush(struct link *link)
{
    if (link->ep.state == EP_NONE || link->queue.last_ended)
        retire_all(link);
    if (link->ep.state != EP_ENDING || link->queue.last_posted)
        return;
    DAT_RETURN status = post_last(link);
    if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES)
        return; /* the queue is full: again when something has come back */
    if (status != DAT_SUCCESS && link->ep.ending == ENDING_RESET)
        return; /* it takes no more; requests may still come back */
    link->queue.last_posted = true;
    if (status != DAT_SUCCESS)
        link_flush_done(link);
}
