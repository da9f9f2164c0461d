/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider may recycle the entries of suppressed DTOs only when a later one
 * completes with an event, so at least one DTO in a quarter of the queue asks
 * for it. Posting never waits: without room it says so, and whoever waits lets
 * everything else go on meanwhile.
 */
#include "dapl_rail/links/queue.h"

#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"

static DAT_RETURN dto_post(struct link *link, struct dto *d,
                           DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
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
                     link->peer->rank, link->rail->info.name, link->why);
}

/* The provider's queue may be shorter than it said: where it has refused a DTO,
 * it is not asked again before others are complete. */
static unsigned room(const struct link *link)
{
    uint64_t under_way = link->posted - link->retired;
    if (under_way >= link->rail->request_depth ||
        link->refused_at == link->retired + 1)
        return 0;
    return link->rail->request_depth - (unsigned)under_way;
}

int link_room(const struct link *link)
{
    if (link->state != LINK_UP)
        return link->state == LINK_CONNECTING ? DRAIL_EPEER : link->error;
    return (int)room(link);
}

/* Enough suppressed ones: this DTO must have an event. */
static bool event_due(const struct link *link, bool send)
{
    return link->posted + 1 - link->signalled >=
               link->rail->request_depth / 4 ||
           (send && link->sent + 1 - link->sent_signalled >=
                        link->rail->owner->cfg.depth / 4);
}

int link_post(struct link *link, struct dto *d, const struct completion *done)
{
    if (link->state != LINK_UP)
        return link_error(link);
    if (!room(link))
        return DRAIL_EAGAIN;

    bool send = d->verb == VERB_SEND;
    bool event = done || event_due(link, send);
    struct op *op = &link->ops[link->ops_head & link->ops_mask];
    if (event) {
        op->link = link;
        op->posted = link->posted + 1;
        op->sent = link->sent + send;
        op->done = done ? *done : (struct completion){0};
    }
    DAT_DTO_COOKIE cookie = {
        .as_64 = event ? (uintptr_t)op : (uintptr_t)link | COOKIE_SUPPRESSED};
    DAT_COMPLETION_FLAGS flags =
        event ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG;
    DAT_RETURN status = dto_post(link, d, cookie, flags);
    if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES &&
        link->ops_head != link->ops_tail) {
        link->refused_at = link->retired + 1;
        return DRAIL_EAGAIN;
    }
    if (status != DAT_SUCCESS)
        return dat_fail(link->rail, dto_call(d->verb), status);
    link->posted++;
    link->sent += send;
    if (event) {
        link->ops_head++;
        link->signalled = link->posted;
        link->sent_signalled = link->sent;
    }
    return 0;
}

void link_retire(struct op *op, int status)
{
    struct link *link = op->link;
    uint64_t place = (uint64_t)(op - link->ops);
    link->retired = op->posted;
    link->sent_retired = op->sent;
    link->ops_tail += ((place - link->ops_tail) & link->ops_mask) + 1;
    if (op->done.ended)
        op->done.ended(link, &op->done, status);
}

void link_forget(struct link *link, const struct req *req,
                 const struct message *message)
{
    for (uint64_t i = link->ops_tail; i != link->ops_head; i++) {
        struct completion *done = &link->ops[i & link->ops_mask].done;
        if (req && done->req == req)
            done->req = NULL;
        if (message && done->message == message)
            done->message = NULL;
    }
}

void link_flush_done(struct link *link)
{
    while (link->ops_tail != link->ops_head)
        link_retire(&link->ops[link->ops_tail & link->ops_mask], link->error);
    link->retired = link->posted;
    link->state = LINK_FLUSHED;
}

/* Requests end in order, so the event of one more tells of all. */
void link_flush(struct link *link)
{
    struct dto d = {
        .verb = VERB_SEND,
        .local = {.virtual_address = (uintptr_t)link->buffers,
                  .segment_length = 1,
                  .lmr_context = link->lmr_context},
    };
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)link | COOKIE_LAST};
    if (link->state != LINK_DOWN || link->last_posted)
        return;
    DAT_RETURN status = dto_post(link, &d, cookie, DAT_COMPLETION_DEFAULT_FLAG);
    if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES)
        return; /* the queue is full: again when something has come back */
    link->last_posted = true;
    if (status != DAT_SUCCESS)
        link_flush_done(link);
}
