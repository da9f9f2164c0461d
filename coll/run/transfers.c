/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes over the rails: puts, gets and notifications. */
#include "coll/run/notes.h"
#include "coll/run/transfers.h"

/* Who waits for the notification alone looks at the data.
 * Without credit of the peer nothing is started: who waits for it takes what
 * comes meanwhile, as the peer may himself be waiting for credit. */
static int put(dcoll_request_t *q, unsigned peer, const drail_xfer_t *xfer,
               unsigned flags, dcoll_tag_t tag, drail_req_t *req)
{
    int rc = drail_put(q->team->rail, peer, xfer,
                       flags | DRAIL_NOTIFY | DRAIL_NOWAIT | DRAIL_EAGER,
                       note_id(q, tag), req);
    return rc && rc != DRAIL_EAGAIN ? team_rail_fail(q->team, rc) : rc;
}

/* Flag of the transport: the rail of the operation's port. */
static inline unsigned on_rail(const dcoll_request_t *q, unsigned port)
{
    return DRAIL_ON_RAIL(port % drail_nrails(q->team->rail));
}

int transfer_notify(dcoll_request_t *q, const dcoll_op_t *op)
{
    dcoll_team_t *team = q->team;
    drail_xfer_t xfer = {0};
    if (op->tag == DCOLL_READY)
        xfer = (drail_xfer_t){
            .local = q->mine + (q->algorithm->placed ? op->peer : 0),
            .local_mem = q->memory->mem,
            .remote = &q->targets[op->peer].memory,
            .remote_offset =
                q->targets[op->peer].keys + team->rank * sizeof(struct window),
            .bytes = sizeof(struct window),
        };
    return put(q, op->peer, &xfer, on_rail(q, op->port), op->tag, NULL);
}

/* What the user has for the peer, to where that one's user wants it. */
static int put_placed(dcoll_request_t *q, const dcoll_op_t *op,
                      drail_xfer_t *xfer)
{
    const struct elements *e = &q->elements;
    const struct window *w = &q->windows[op->peer];
    size_t count = e->send_counts[op->peer];
    if (w->elements != count)
        return team_fail(q->team, DRAIL_EINVAL,
                         "rank %u: send_counts[%u] is %zu, but rank %u expects "
                         "%llu elements: none were sent",
                         q->team->rank, op->peer, count, op->peer,
                         (unsigned long long)w->elements);
    xfer->bytes = count * e->element;
    if (!count)
        return 0;
    xfer->local = (void *)(e->send + elements_begin(e, op->peer));
    xfer->local_mem = q->mem[DCOLL_SEND];
    xfer->remote = &w->key;
    xfer->remote_offset = w->begin * e->element;
    return 0;
}

int transfer_put(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct target *target = &q->targets[op->peer];
    drail_xfer_t xfer = {.bytes = op->bytes};
    if (op->sized && op->src.space == DCOLL_SEND) {
        int rc = put_placed(q, op, &xfer);
        if (rc)
            return rc;
    } else if (op->bytes) {
        xfer.local = address(q, op->src);
        if (op->sized)
            xfer.bytes = bundle_length(xfer.local, op->bytes);
        xfer.local_mem = q->mem[op->src.space];
        xfer.remote_offset = op->dst.offset;
        if (op->dst.space == DCOLL_RECV) {
            xfer.remote = &q->windows[op->peer].key;
        } else if (op->dst.space == DCOLL_TEMP) {
            xfer.remote = &target->memory;
            xfer.remote_offset += turn(q) * target->temp_stride;
        } else {
            xfer.remote = &target->node;
            xfer.remote_offset += turn(q) * target->node_stride;
        }
    }
    int rc = put(q, op->peer, &xfer, on_rail(q, op->port), DCOLL_DATA,
                 &q->reqs[q->transfers]);
    if (rc)
        return rc;
    q->transfers++;
    return 0;
}

static int get(dcoll_request_t *q, unsigned peer, unsigned port,
               const drail_xfer_t *xfer)
{
    dcoll_team_t *team = q->team;
    int rc = drail_get(team->rail, peer, xfer, on_rail(q, port) | DRAIL_NOWAIT,
                       &q->reqs[q->transfers]);
    if (rc)
        return rc == DRAIL_EAGAIN ? rc : team_rail_fail(team, rc);
    q->transfers++;
    return 0;
}

int transfer_get(dcoll_request_t *q, const dcoll_op_t *op)
{
    drail_xfer_t xfer = {
        .local = address(q, op->dst),
        .local_mem = q->mem[op->dst.space],
        .remote = &q->shared[op->peer - q->team->first].key,
        .remote_offset = op->src.offset,
        .bytes = op->bytes,
    };
    return get(q, op->peer, op->port, &xfer);
}

int transfer_get_from(dcoll_request_t *q, unsigned peer, unsigned port,
                      uint64_t from, unsigned char *to, size_t bytes)
{
    drail_xfer_t xfer = {
        .local = to,
        .local_mem = q->mem[DCOLL_RECV],
        .remote = &q->shared[peer - q->team->first].key,
        .remote_offset = from,
        .bytes = bytes,
    };
    return get(q, peer, port, &xfer);
}

int transfers_complete(dcoll_request_t *q, const dcoll_op_t *op)
{
    unsigned end = op->puts ? op->puts : q->transfers;
    while (q->completed < end) {
        int rc = drail_test(q->team->rail, &q->reqs[q->completed]);
        if (rc == DRAIL_EAGAIN)
            return rc;
        if (rc)
            return team_rail_fail(q->team, rc);
        q->completed++;
    }
    return 0;
}
