/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to members. b->lock is held. */
#include "providers/core/segments.h"

#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"

#define OPS_RESERVE 16u /* for messages of the bond's own, and marks */
/* Quiet ops in a row. The peer answers the next op, by a packet. Of a consumer
 * that posts without a poll, fewer are quiet: it soon lacks ops. */
#define QUIET_MOST     96u
#define QUIET_UNPOLLED 16u

static struct bond_request *request_of(const struct bond_op *op)
{
    return core_request_at(op->conn->ep, op->request)->tp;
}

struct bond_op *bond_op_new(struct bond_conn *c, const struct bond_op *like)
{
    struct bond_op *op = c->free_ops;
    if (!op ||
        (like->request != BOND_NO_REQUEST && c->free_count <= OPS_RESERVE))
        return NULL;
    c->free_ops = op->next;
    c->free_count--;
    *op = *like;
    op->conn = c;
    op->place = (unsigned)(op - c->ops);
    op->serial = c->next_serial++;
    if (op->request != BOND_NO_REQUEST)
        request_of(op)->under_way++;
    return op;
}

void bond_op_free(struct bond_op *op)
{
    struct bond_conn *c = op->conn;
    op->next = c->free_ops;
    c->free_ops = op;
    c->free_count++;
}

void bond_op_insert(struct bond_op **at, struct bond_op *op)
{
    while (*at && (*at)->serial < op->serial)
        at = &(*at)->next;
    op->next = *at;
    *at = op;
}

void bond_op_lost(struct bond_op *op)
{
    struct bond_conn *c = op->conn;
    op->losses++;
    if (op->kind == BOND_OP_KEY)
        c->key_asked = false;
    if (op->request == BOND_NO_REQUEST || !bond_conn_open(c))
        bond_op_free(op);
    else
        bond_op_insert(&c->path[op->link->m->index].lost, op);
}

/* ------------------------------------------------------------- segments --- */

/* Lists the op's part of the request's segments, with the member's contexts.
 * Returns their number, or -1 after setting op->status. */
static int take_part(struct bond_op *op, unsigned member, DAT_LMR_TRIPLET *out)
{
    struct bond_conn *c = op->conn;
    const struct core_wqe *w = &core_request_at(c->ep, op->request)->w;
    uint32_t n = core_slice(w->nseg, w->seg, op->offset, op->bytes, out);
    op->status = bond_range_translate(c->b, member, n, out);
    return op->status ? -1 : (int)n;
}

static DAT_LMR_TRIPLET own(const struct bond_link *l, const void *at,
                           size_t bytes)
{
    return (DAT_LMR_TRIPLET){.virtual_address = (uintptr_t)at,
                             .segment_length = (DAT_SEG_LENGTH)bytes,
                             .lmr_context = l->context};
}

/* ------------------------------------------------------------- posting --- */

static void write_atomic(const struct bond_op *op, void *at)
{
    const struct core_request *r = core_request_at(op->conn->ep, op->request);
    const struct bond_request *q = r->tp;
    struct bond_atomic ask = {.address = q->remote_address,
                              .operand = q->operand,
                              .compare = q->compare,
                              .key = q->remote_key,
                              .swap = r->op == CORE_CMP_SWAP};
    memcpy(at, &ask, sizeof ask);
}

/* Writes the header into the op's buffer. Short data follow it there; longer
 * data stay where they are, as segments of their own. */
static int message_segments(struct bond_op *op, struct bond_link *l,
                            DAT_LMR_TRIPLET *seg)
{
    unsigned char *at = l->region->send[op->place];
    size_t bytes = sizeof op->header + op->header.bytes;
    int n = 0;
    op->header.returned = l->returned;
    op->header.delivered = op->conn->delivered;
    memcpy(at, &op->header, sizeof op->header);
    if (op->header.kind == BOND_ATOMIC)
        write_atomic(op, at + sizeof op->header);
    else if (op->ordered && op->bytes)
        n = take_part(op, l->m->index, seg + 1);
    if (n < 0)
        return -1;
    if (bytes > BOND_SHORT) {
        seg[0] = own(l, at, sizeof op->header);
        return n + 1;
    }
    if (n)
        core_gather(at + sizeof op->header, (uint32_t)n, seg + 1);
    seg[0] = own(l, at, bytes);
    return 1;
}

static DAT_RETURN send_message(struct bond_op *op, struct bond_link *l, int n,
                               DAT_LMR_TRIPLET *seg, DAT_DTO_COOKIE cookie)
{
    DAT_RETURN ret =
        dat_ep_post_send(l->ep, n, seg, cookie, DAT_COMPLETION_DEFAULT_FLAG);
    if (ret == DAT_SUCCESS) {
        l->sent++;
        l->told = op->header.returned;
        op->conn->news = l->asked = false;
    }
    return ret;
}

static DAT_RETURN access_remote(struct bond_op *op, struct bond_link *l, int n,
                                DAT_LMR_TRIPLET *seg, DAT_DTO_COOKIE cookie)
{
    struct bond_conn *c = op->conn;
    unsigned m = l->m->index;
    DAT_RMR_TRIPLET there = {.segment_length = op->bytes};
    if (op->kind == BOND_OP_KEY) {
        there.virtual_address = c->peer_table + op->offset;
        there.rmr_context = c->path[m].table;
    } else if (op->kind == BOND_OP_MARK) {
        there.virtual_address = l->peer_mark;
        there.rmr_context = l->peer_mark_context;
    } else {
        const struct bond_request *q = request_of(op);
        there.virtual_address = q->remote_address + op->offset;
        there.rmr_context = q->context[m];
    }
    int flags =
        op->quiet ? DAT_COMPLETION_SUPPRESS_FLAG : DAT_COMPLETION_DEFAULT_FLAG;
    if (op->kind == BOND_OP_READ || op->kind == BOND_OP_KEY)
        return dat_ep_post_rdma_read(l->ep, n, seg, cookie, &there,
                                     (DAT_COMPLETION_FLAGS)flags);
    if (op->mark && l->m->counts && op->kind == BOND_OP_WRITE)
        flags |= DAPL_WRITE_COUNTED_FLAG;
    return dat_ep_post_rdma_write(l->ep, n, seg, cookie, &there,
                                  (DAT_COMPLETION_FLAGS)flags);
}

static int segments_of(struct bond_op *op, struct bond_link *l,
                       DAT_LMR_TRIPLET *seg)
{
    switch (op->kind) {
    case BOND_OP_MESSAGE:
        return message_segments(op, l, seg);
    case BOND_OP_KEY:
        seg[0] = own(l, &l->region->entry, op->bytes);
        return 1;
    case BOND_OP_MARK:
        l->region->marked[op->place] = op->mark;
        seg[0] = own(l, &l->region->marked[op->place], op->bytes);
        return 1;
    default:
        return take_part(op, l->m->index, seg);
    }
}

/* May its completion come with that of a later op? The consumer does not wait
 * for it, and has room for many more requests. Verbs report each op that is
 * flushed: the link counts all of these events. */
static bool may_be_quiet(const struct bond_op *op, const struct bond_link *l)
{
    struct core_ep *ep = op->conn->ep;
    bool polls = l->m->unpolled < QUIET_UNPOLLED;
    if (!l->m->own || op->body ||
        l->quiet >= (polls ? QUIET_MOST : QUIET_UNPOLLED))
        return false;
    if (op->kind != BOND_OP_WRITE)
        return op->kind == BOND_OP_MARK && op->quiet;
    uint64_t unfinished = atomic_load(&ep->sq_tail) - atomic_load(&ep->sq_head);
    return core_request_at(ep, op->request)->w.flags &
               DAT_COMPLETION_SUPPRESS_FLAG &&
           unfinished <= (uint64_t)ep->attr.max_request_dtos / 4;
}

static void was_posted(struct bond_op *op, struct bond_link *l)
{
    op->next = NULL;
    *l->last = op;
    l->last = &op->next;
    l->quiet = op->quiet ? l->quiet + 1 : 0;
    l->m->unpolled += op->quiet;
    l->posted += !op->quiet;
    l->requests += !op->quiet;
    l->m->requests += !op->quiet;
}

struct bond_op *bond_op_next(struct bond_link *l)
{
    struct bond_op *op = l->first;
    l->first = op->next;
    if (!l->first)
        l->last = &l->first;
    l->posted -= !op->quiet;
    l->requests -= !op->quiet;
    l->m->requests -= !op->quiet;
    return op;
}

DAT_RETURN bond_op_give(struct bond_op *op)
{
    struct bond_link *l = op->link;
    DAT_LMR_TRIPLET seg[CORE_MAX_IOV + 1];
    DAT_DTO_COOKIE cookie = {.as_ptr = op};
    int n = segments_of(op, l, seg);
    op->quiet = may_be_quiet(op, l);
    if (n < 0)
        return DAT_CLASS_ERROR | DAT_PROTECTION_VIOLATION; /* of no member */
    return op->kind == BOND_OP_MESSAGE ? send_message(op, l, n, seg, cookie)
                                       : access_remote(op, l, n, seg, cookie);
}

bool bond_op_given(struct bond_op *op, DAT_RETURN ret)
{
    struct bond_link *l = op->link;
    if (op->status) {
        bond_request_fail(op->conn, op->request, op->status);
        bond_op_free(op);
        return true;
    }
    if (ret == DAT_SUCCESS) {
        was_posted(op, l);
        return true;
    }
    if (DAT_GET_TYPE(ret) == DAT_INSUFFICIENT_RESOURCES)
        return false;
    bond_link_leave(l);
    bond_op_lost(op);
    return true;
}

bool bond_op_post(struct bond_op *op, struct bond_link *l)
{
    op->link = l;
    return bond_op_given(op, bond_op_give(op));
}

bool bond_op_start(const struct bond_op *like, struct bond_link *l,
                   const void *data)
{
    struct bond_op *op = bond_op_new(l->conn, like);
    if (!op)
        return false;
    if (data)
        memcpy(l->region->send[op->place] + sizeof op->header, data,
               op->header.bytes);
    if (bond_op_post(op, l))
        return true;
    if (op->request != BOND_NO_REQUEST)
        request_of(op)->under_way--;
    bond_op_free(op);
    return false;
}

/* It belongs to no request: if it is lost, the bond repeats the write. */
static void post_mark(struct bond_link *l, bool quiet)
{
    struct bond_op op = {.kind = BOND_OP_MARK,
                         .request = BOND_NO_REQUEST,
                         .bytes = sizeof op.mark,
                         .mark = l->marks,
                         .quiet = quiet};
    bond_op_start(&op, l, NULL);
}

void bond_link_mark(struct bond_link *l)
{
    if (!l->m->counts)
        post_mark(l, true);
}

void bond_link_flush(struct bond_link *l)
{
    if (l && l->quiet)
        post_mark(l, false);
}
