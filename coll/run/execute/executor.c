/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function per kind of operation: 0 when it is done, DRAIL_EAGAIN when it
 * has to wait, or an error.
 */
#include "coll/run/node/copy.h"
#include "coll/run/execute/executor.h"
#include "coll/run/execute/flags.h"
#include "coll/run/execute/notifications.h"
#include "coll/run/irregular/bundle_reader.h"
#include "coll/run/irregular/deal.h"
#include "coll/run/irregular/neighborhood.h"
#include "coll/run/irregular/offer.h"
#include "coll/run/irregular/placed.h"
#include "coll/run/execute/transfers.h"

/* dst == src: a root in place has its own block there already. */
static inline void perform_copy(dcoll_request_t *q, const dcoll_op_t *op)
{
    dcoll_team_t *team = q->team;
    const struct drail_platform *p = team->platform;
    unsigned char *dst = address(q, op->dst), *src = address(q, op->src);
    size_t bytes = op->sized ? bundle_length(src, op->bytes) : op->bytes;
    if (dst == src)
        return;
    if (op->dst.space == DCOLL_NODE)
        node_copy(&team->copier, p, dst, src, bytes);
    else if (q->schedule.crossing && op->src.space == DCOLL_NODE)
        node_copy_crossing(p, dst, src, bytes);
    else
        p->copy(p, dst, src, bytes);
}

static inline void perform_combine(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct drail_platform *p = q->team->platform;
    const dcoll_reduction_t *r = &q->reduction;
    const unsigned char *left = address(q, op->src);
    const unsigned char *right = address(q, op->with);
    unsigned char *result = address(q, op->dst);
    if (platform_combine(p, result, left, right, op->bytes))
        r->combine(r->context, left, right, result, op->bytes / r->element);
}

/* The member of dcoll_times_t that counts the operation. */
static uint64_t *time_of(dcoll_times_t *times, dcoll_kind_t kind)
{
    return kind == DCOLL_COLLECT   ? &times->collect_ns
           : kind == DCOLL_DELIVER ? &times->deliver_ns
                                   : &times->distribute_ns;
}

static int offer(dcoll_request_t *q, const dcoll_op_t *op)
{
    return op->dst.space == DCOLL_TEMP ? placed_offer(q, op)
                                       : offer_elements(q, op);
}

static int expect(dcoll_request_t *q, const dcoll_op_t *op)
{
    return op->src.space == DCOLL_TEMP   ? placed_expect(q, op)
           : op->src.space == DCOLL_RECV ? placed_expect_counts(q)
                                         : offer_expect(q, op);
}

static int perform_local(dcoll_request_t *q, const dcoll_op_t *op)
{
    return op->kind == DCOLL_DELIVER ? deliver_elements(q, op)
           : op->kind == DCOLL_OFFER ? offer(q, op)
           : op->kind == DCOLL_PACK  ? offer_pack(q, op)
                                     : deal_elements(q, op);
}

static int perform_timed(dcoll_request_t *q, const dcoll_op_t *op)
{
    dcoll_team_t *team = q->team;
    if (!team->timed)
        return perform_local(q, op);
    uint64_t start = platform_now(team->platform);
    int rc = perform_local(q, op);
    *time_of(&team->times, op->kind) += platform_now(team->platform) - start;
    return rc;
}

static inline int perform(dcoll_request_t *q, const dcoll_op_t *op)
{
    switch (op->kind) {
    case DCOLL_PUT:
        return transfer_put(q, op);
    case DCOLL_GET:
        return transfer_get(q, op);
    case DCOLL_NOTIFY:
        return transfer_notify(q, op);
    case DCOLL_WAIT:
        return notifications_await(q, op);
    case DCOLL_COMPLETE:
        return transfers_complete(q, op);
    case DCOLL_COPY:
        perform_copy(q, op);
        return 0;
    case DCOLL_COMBINE:
        perform_combine(q, op);
        return 0;
    case DCOLL_SIGNAL:
        flag_signal(q, op);
        return 0;
    case DCOLL_AWAIT:
        return flag_await(q, op);
    case DCOLL_DISTRIBUTE:
    case DCOLL_COLLECT:
    case DCOLL_DELIVER:
    case DCOLL_OFFER:
    case DCOLL_PACK:
        return perform_timed(q, op);
    case DCOLL_EXPECT:
        return expect(q, op);
    case DCOLL_PICK:
        return offer_pick(q, op);
    }
    return DRAIL_EINVAL;
}

int request_start(dcoll_request_t *q)
{
    q->pc = 0;
    q->transfers = q->completed = 0;
    q->waiting_ns = 0;
    q->moved = UINT64_MAX;
    q->active = true;
    q->team->times.algorithm = q->algorithm;
    if (q->neighborhood)
        neighborhood_pack(q->neighborhood);
    TAILQ_INSERT_TAIL(&q->team->active, q, active_one);
    return q->ncreditors ? notifications_take_credits(q) : 0;
}

int request_advance(dcoll_request_t *q)
{
    unsigned pc = q->pc, nops = q->schedule.nops;
    const dcoll_op_t *op = q->schedule.ops + pc;
    int rc = 0;
    while (pc < nops &&
           (dcoll_op_rests(op, q->start) || !(rc = perform(q, op)))) {
        pc++;
        op++;
    }
    if (pc != q->pc) {
        q->team->moves += pc - q->pc;
        q->pc = pc;
        q->waiting_ns = 0;
    }
    if (rc)
        return rc;
    q->active = false;
    TAILQ_REMOVE(&q->team->active, q, active_one);
    q->start++;
    if (q->neighborhood && !q->dealing.start_error)
        neighborhood_unpack(q->neighborhood);
    return 0;
}
