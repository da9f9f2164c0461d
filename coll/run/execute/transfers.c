/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/execute/notifications.h"
#include "coll/run/irregular/bundle_reader.h"
#include "coll/run/node/cma.h"
#include "coll/run/execute/transfers.h"

#define ONE_RAIL_BYTES (16u << 10) /* sent together with the notification */
/* The same, where ranks run far ahead, or share a core with other hosts, … */
#define AHEAD_RAIL_BYTES 512u
#define BCAST_RAIL_BYTES 4096u /* … but few put to the same rank */
/* The same, where a rank awaits one message at a time. */
#define REDUCE_RAIL_BYTES   4096u
#define GATHER_SPREAD_BYTES 4096u
#define READ_PIECE          (16u << 20) /* some milliseconds */

/* Only the receiver of the notification reads the data. Without the peer's
 * credit nothing is started: the caller takes notifications while it waits, as
 * the peer may be waiting for credit, too. */
static int put(dcoll_request_t *q, unsigned peer, const drail_xfer_t *xfer,
               unsigned flags, dcoll_tag_t tag, drail_req_t *req)
{
    int rc = drail_put(q->team->rail, team_peer(q->team, peer), xfer,
                       flags | DRAIL_NOTIFY | DRAIL_NOWAIT | DRAIL_EAGER,
                       notification_id(q, tag), req);
    return rc && rc != DRAIL_EAGAIN ? team_rail_fail(q->team, rc) : rc;
}

/* With one port, all messages between two nodes use the same rail; another pair
 * of nodes may use another rail. */
static unsigned rail_between_nodes(const dcoll_team_t *team, unsigned peer)
{
    unsigned wires = drail_nrails(team->rail) - team->far_rail;
    unsigned nodes = team->node + dcoll_shape_node(&team->shape, peer);
    return team->far_rail + nodes % wires;
}

/* With one port, does a rank await one message at a time? */
static bool reduces_alone(const dcoll_request_t *q)
{
    return q->args.ports == 1 && (q->args.collective == DCOLL_REDUCE ||
                                  q->args.collective == DCOLL_ALLREDUCE);
}

/* With one port, are there few such messages at a time, so that the transport
 * spreads them better over the wires? */
static bool spreads(const dcoll_request_t *q, size_t bytes)
{
    return q->args.collective == DCOLL_GATHER
               ? bytes >= GATHER_SPREAD_BYTES
               : reduces_alone(q) && bytes > REDUCE_RAIL_BYTES;
}

static size_t one_rail_bytes(const dcoll_request_t *q)
{
    if (q->team->contended)
        return AHEAD_RAIL_BYTES;
    if (!q->algorithm->ahead)
        return reduces_alone(q) ? REDUCE_RAIL_BYTES : ONE_RAIL_BYTES;
    return q->args.collective == DCOLL_BCAST ? BCAST_RAIL_BYTES
                                             : AHEAD_RAIL_BYTES;
}

/* The transport's flag for the rail of the operation's port. Between
 * oversubscribed hosts ranks sleep, and can sleep on one rail only: there,
 * short messages use the first rail. If ranks run ahead, a receiver seldom
 * sleeps and messages fill one rail sooner: the limit is lower.
 */
static inline unsigned on_rail(const dcoll_request_t *q, unsigned peer,
                               unsigned port, size_t bytes)
{
    const dcoll_team_t *team = q->team;
    const size_t one = one_rail_bytes(q);
    bool near = peer - team->first < team->locals;
    if (team->oversubscribed && team->several_hosts && bytes <= one)
        return near ? 0 : DRAIL_ON_RAIL(team->far_rail);
    if (q->args.ports == 1 && !near)
        return spreads(q, bytes)
                   ? 0
                   : DRAIL_ON_RAIL(rail_between_nodes(team, peer));
    return DRAIL_ON_RAIL(port % drail_nrails(team->rail));
}

static const struct target *target_of(const dcoll_request_t *q, unsigned peer)
{
    return partner_of(&q->partners, peer)->target;
}

int transfer_notify(dcoll_request_t *q, const dcoll_op_t *op)
{
    dcoll_team_t *team = q->team;
    drail_xfer_t xfer = {0};
    if (op->tag == DCOLL_READY) {
        const struct target *target = target_of(q, op->peer);
        xfer = (drail_xfer_t){
            .local = q->mine + (q->algorithm->placed ? op->peer : 0),
            .local_mem = q->memory->mem,
            .remote = &target->memory,
            .remote_offset =
                target->windows + team->rank * sizeof(struct window),
            .bytes = sizeof(struct window),
        };
    }
    return put(q, op->peer, &xfer, on_rail(q, op->peer, op->port, xfer.bytes),
               op->tag, NULL);
}

/* A PUT from SEND in an irregular call: into the window that the peer has
 * opened. */
static int put_placed(dcoll_request_t *q, const dcoll_op_t *op,
                      drail_xfer_t *xfer)
{
    const struct elements *e = &q->elements;
    const struct window *w = &q->windows[op->peer];
    xfer->bytes = 0;
    if (q->dealing.call_error || w->elements == WINDOW_CLOSED)
        return 0;
    size_t count = e->send_counts[op->peer];
    if (w->elements != count)
        return team_fail(q->team, DRAIL_EINVAL,
                         "%s: rank %u permits %llu elements, which is not what "
                         "it was told",
                         q->algorithm->name, op->peer,
                         (unsigned long long)w->elements);
    if (!count)
        return 0;
    xfer->bytes = op->sized ? count * e->element : op->bytes;
    xfer->local =
        (void *)(e->send + elements_begin(e, op->peer) + op->src.offset);
    xfer->local_mem = q->mem[DCOLL_SEND];
    xfer->remote = &w->key;
    xfer->remote_offset = w->begin * e->element + op->dst.offset;
    return 0;
}

int transfer_put(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct target *target = target_of(q, op->peer);
    drail_xfer_t xfer = {.bytes = op->bytes};
    if (q->algorithm->placed && op->src.space == DCOLL_SEND) {
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
            xfer.remote_offset += depth_slot(q) * target->temp_stride;
        } else {
            xfer.remote = &target->node;
            xfer.remote_offset += depth_slot(q) * target->node_stride;
        }
    }
    int rc = put(q, op->peer, &xfer, on_rail(q, op->peer, op->port, xfer.bytes),
                 DCOLL_DATA, &q->reqs[q->transfers]);
    if (rc)
        return rc;
    q->transfers++;
    return 0;
}

static int get(dcoll_request_t *q, unsigned peer, unsigned port,
               const drail_xfer_t *xfer)
{
    dcoll_team_t *team = q->team;
    int rc = drail_get(team->rail, team_peer(team, peer), xfer,
                       on_rail(q, peer, port, xfer->bytes) | DRAIL_NOWAIT,
                       &q->reqs[q->transfers]);
    if (rc)
        return rc == DRAIL_EAGAIN ? rc : team_rail_fail(team, rc);
    q->transfers++;
    return 0;
}

/* Copies without a rail, so it is complete at once; in pieces, so that other
 * requests proceed. */
static int read_shared(dcoll_request_t *q, const dcoll_op_t *op,
                       const drail_key_t *key)
{
    size_t left = op->bytes - q->read;
    size_t piece = left < READ_PIECE ? left : READ_PIECE;
    int rc =
        cma_read(q->team, op->peer, key->address + op->src.offset + q->read,
                 address(q, op->dst) + q->read, piece);
    if (rc)
        return rc;
    q->read += piece;
    if (q->read < op->bytes) {
        q->waiting_ns = 0; /* it moves */
        return DRAIL_EAGAIN;
    }
    q->read = 0;
    q->reqs[q->transfers++] = (drail_req_t){0};
    return 0;
}

int transfer_get(dcoll_request_t *q, const dcoll_op_t *op)
{
    const drail_key_t *key = &q->shared[op->peer - q->team->first].key;
    if (!key->nrails || !q->mem[op->dst.space])
        return read_shared(q, op, key);
    drail_xfer_t xfer = {
        .local = address(q, op->dst),
        .local_mem = q->mem[op->dst.space],
        .remote = key,
        .remote_offset = op->src.offset,
        .bytes = op->bytes,
    };
    return get(q, op->peer, op->port, &xfer);
}

int transfer_get_from(dcoll_request_t *q, unsigned peer, unsigned port,
                      uint64_t from, unsigned char *to, size_t bytes)
{
    const drail_key_t *key = &q->shared[peer - q->team->first].key;
    drail_xfer_t xfer = {
        .local = to,
        .local_mem = q->mem[DCOLL_RECV],
        .remote = key,
        .remote_offset = from - key->address,
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
