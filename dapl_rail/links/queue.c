/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider may recycle the entries of suppressed DTOs only when a later one
 * completes with an event, so at least one DTO in a quarter of the queue asks
 * for it. Posting never waits: without room it says so, and whoever waits lets
 * everything else go on meanwhile.
 */
#include "dapl_rail/links/queue.h"

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/links/journal.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"

/* As each DTO comes by here, it is worth a copy in each caller. */
static inline __attribute__((always_inline)) DAT_RETURN
post_now(struct link *link, struct dto *d, DAT_DTO_COOKIE cookie,
         DAT_COMPLETION_FLAGS flags)
{
    switch (d->verb) {
    case VERB_WRITE:
        return dat_ep_post_rdma_write(link->ep, 1, &d->local, cookie,
                                      &d->remote, flags);
    case VERB_WRITE_IMMED:
        return dat_ib_post_rdma_write_immed(link->ep, 1, &d->local, cookie,
                                            &d->remote, d->immed, flags);
    case VERB_READ:
        return dat_ep_post_rdma_read(link->ep, 1, &d->local, cookie, &d->remote,
                                     flags);
    case VERB_SEND:
        return dat_ep_post_send(link->ep, 1, &d->local, cookie, flags);
    case VERB_FETCH_ADD:
        return dat_ib_post_fetch_and_add(link->ep, d->operand, &d->local,
                                         cookie, &d->remote, flags);
    case VERB_CMP_SWAP:
        return dat_ib_post_cmp_and_swap(link->ep, d->compare, d->operand,
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
    return (int)(link->full_at - link->posted);
}

/* Enough suppressed ones: this DTO must have an event. */
static bool event_due(const struct link *link, bool send)
{
    return link->posted + 1 - link->signalled >=
               link->rail->request_depth / 4 ||
           (send && link->sent + 1 - link->sent_signalled >=
                        link->rail->owner->cfg.depth / 4);
}

static DAT_RETURN post_suppressed(struct link *link, struct dto *d)
{
    return post_now(link, d, cookie_suppressed(link),
                    DAT_COMPLETION_SUPPRESS_FLAG);
}

/* Its place may still be to be made. */
static inline struct op *op_place(struct link *link)
{
    uint64_t place = link->ops_head & link->ops_mask;
    struct op **chunk = &link->ops[place / OPS_CHUNK];
    if (!*chunk && !(*chunk = alloc_lines(OPS_CHUNK * sizeof **chunk)))
        return NULL;
    return *chunk + place % OPS_CHUNK;
}

/* The op of the DTO that is posted next; NULL: there is no memory for one more
 * at once. */
static struct op *op_next(struct link *link, const struct dto *d,
                          const struct completion *done)
{
    struct op *op = op_place(link);
    if (!op)
        return NULL;
    op->link = link;
    op->posted = link->posted + 1;
    op->sent = link->sent + (d->verb == VERB_SEND);
    op->done = done ? *done : (struct completion){0};
    return op;
}

static void op_posted(struct link *link, const struct op *op)
{
    link->ops_head++;
    link->signalled = op->posted;
    link->sent_signalled = op->sent;
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
        op_posted(link, op);
    return status;
}

static void dto_posted(struct link *link, const struct dto *d)
{
    journal_keep(link, d);
    link->posted++;
    link->sent += d->verb == VERB_SEND;
}

/* On a link that is lost: enters it only, for another link or the next EP. */
static int post_later(struct link *link, const struct dto *d,
                      const struct completion *done)
{
    if (is_atomic(d->verb))
        return rail_fail(link->rail, DRAIL_EPEER,
                         "rank %u: atomics go over %s, which is lost: %s",
                         link->peer->rank, link->rail->info.name,
                         sentence_text(link->why));
    if (link->posted == link->full_at || !journal_has_room(link))
        return DRAIL_EAGAIN;
    if (done || event_due(link, d->verb == VERB_SEND)) {
        const struct op *op = op_next(link, d, done);
        if (!op)
            return DRAIL_EAGAIN;
        op_posted(link, op);
    }
    dto_posted(link, d);
    peer_unsettle(link->peer);
    return 0;
}

static int post_failed(struct link *link, const struct dto *d,
                       const struct completion *done, DAT_RETURN status)
{
    /* The queue may be shorter than the provider said: it is not asked again
     * before others are complete. */
    if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES &&
        link->ops_head != link->ops_tail) {
        link->full_at = link->posted;
        return DRAIL_EAGAIN;
    }
    int rc = dat_fail(link->rail, dto_call(d->verb), status);
    if (DAT_GET_TYPE(status) != DAT_INVALID_STATE || !link->journal ||
        atomic_load(&link->peer->error))
        return rc;
    /* the EP has lost its connection, of which no event has come yet */
    link->state = LINK_LOST;
    link->broken = true;
    sentence_write(&link->why, "%s", link->rail->error.text);
    link->lost->tried = link->posted;
    return post_later(link, d, done);
}

int link_post(struct link *link, struct dto *d, const struct completion *done)
{
    if (link->state != LINK_UP)
        return link->state == LINK_LOST ? post_later(link, d, done)
                                        : link_error(link);
    if (link->posted == link->full_at || !journal_has_room(link))
        return DRAIL_EAGAIN;
    DAT_RETURN status = done || event_due(link, d->verb == VERB_SEND)
                            ? post_signalled(link, d, done)
                            : post_suppressed(link, d);
    if (status != DAT_SUCCESS)
        return post_failed(link, d, done, status);
    dto_posted(link, d);
    return 0;
}

/* Nothing is written, but as DTOs complete in order, its event tells of all
 * before it. */
int link_mark(struct link *link)
{
    static const struct completion nobody;
    struct dto d = {
        .verb = VERB_WRITE,
        .local = {.virtual_address = (uintptr_t)link->buffers,
                  .lmr_context = link->lmr_context},
    };
    return link_post(link, &d, &nobody);
}

/* If none is in use, the first places again, that no more are made than are in
 * use at once. While it is lost, they have numbers that others know. */
static void first_places(struct link *link)
{
    if (link->ops_tail == link->ops_head && link->state == LINK_UP)
        link->ops_tail = link->ops_head = 0;
}

static void retire_first(struct link *link, int status)
{
    const struct op *op = op_first(link);
    link->ops_tail++;
    link->retired = op->posted;
    link->full_at = link->retired + link->rail->request_depth;
    link->sent_retired = op->sent;
    if (op->done.ended)
        op->done.ended(link, &op->done, status);
    first_places(link);
}

/* Those before it, too: one that was carried over the link's own next EP has
 * an event that ends nothing when it is flushed. */
void link_retire(struct op *op, int status)
{
    struct link *link = op->link;
    while (op_first(link) != op)
        retire_first(link, status);
    retire_first(link, status);
}

void link_resume(struct link *link)
{
    link->state = LINK_UP;
    first_places(link);
}

void link_forget(struct link *link, const struct req *req,
                 const struct timed_message *message)
{
    for (uint64_t i = link->ops_tail; i != link->ops_head; i++) {
        struct completion *done = &op_at(link, i)->done;
        if (req && done->req == req)
            done->req = NULL;
        if (message && done->message == message)
            done->message = NULL;
    }
}

/* Does another link read or write its memory? */
static bool is_carried(const struct link *link)
{
    return link->lost->pending && !link->lost->carrier->last_come;
}

static void flush_done(struct link *link)
{
    if (link->state != LINK_DOWN || is_carried(link))
        return;
    while (link->ops_tail != link->ops_head)
        link_retire(op_first(link), link->error);
    link->retired = link->posted;
    link->state = LINK_FLUSHED;
}

void link_flush_done(struct link *link)
{
    struct link *lane;
    unsigned at = 0;
    link->last_come = true;
    flush_done(link);
    /* nothing is pending while several threads are at work */
    while ((lane = peer_next(link->peer, UINT32_MAX, &at)))
        if (lane->lost->pending && lane->lost->carrier == link)
            link_flush(lane);
}

static DAT_RETURN post_last(struct link *link)
{
    struct dto d = {
        .verb = VERB_SEND,
        .local = {.virtual_address = (uintptr_t)link->buffers,
                  .segment_length = LAST_BYTES,
                  .lmr_context = link->lmr_context},
    };
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)link | COOKIE_LAST};
    return dto_post(link, &d, cookie, DAT_COMPLETION_DEFAULT_FLAG);
}

bool link_post_last(struct link *link)
{
    link->last_posted = post_last(link) == DAT_SUCCESS;
    return link->last_posted;
}

/* Requests end in order, so the event of one more tells of all. */
void link_flush(struct link *link)
{
    if (link->ep_state == EP_NONE || link->last_come)
        flush_done(link);
    if (link->ep_state != EP_ENDING || link->last_posted)
        return;
    DAT_RETURN status = post_last(link);
    if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES)
        return; /* the queue is full: again when something has come back */
    if (status != DAT_SUCCESS && link->ending == ENDING_RESET)
        return; /* it takes none any more, others may still come back */
    link->last_posted = true;
    if (status != DAT_SUCCESS)
        link_flush_done(link);
}
