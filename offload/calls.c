/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments of DAT as those of libdcoll. In the operations …V only a root may
 * know all sizes, and blocks may lie anywhere. So each of them is an irregular
 * all-to-all, in which most ranks send nothing to most others. Its algorithm
 * `direct` needs no bounds.
 */
#include <stdlib.h>

#include "offload/offload.h"

#define NONE (-1)

static int type_of(DAT_IB_COLLECTIVE_DATA_TYPE type)
{
    switch (type) {
    case DAT_IB_COLLECTIVE_TYPE_INT8:
        return DCOLL_INT8;
    case DAT_IB_COLLECTIVE_TYPE_UINT8:
        return DCOLL_UINT8;
    case DAT_IB_COLLECTIVE_TYPE_INT16:
        return DCOLL_INT16;
    case DAT_IB_COLLECTIVE_TYPE_UINT16:
        return DCOLL_UINT16;
    case DAT_IB_COLLECTIVE_TYPE_INT32:
        return DCOLL_INT32;
    case DAT_IB_COLLECTIVE_TYPE_UINT32:
        return DCOLL_UINT32;
    case DAT_IB_COLLECTIVE_TYPE_INT64:
        return DCOLL_INT64;
    case DAT_IB_COLLECTIVE_TYPE_UINT64:
        return DCOLL_UINT64;
    case DAT_IB_COLLECTIVE_TYPE_FLOAT:
        return DCOLL_FLOAT;
    case DAT_IB_COLLECTIVE_TYPE_DOUBLE:
        return DCOLL_DOUBLE;
    default:
        return NONE;
    }
}

static int operator_of(DAT_IB_COLLECTIVE_REDUCE_DATA_OP op)
{
    switch (op) {
    case DAT_IB_COLLECTIVE_REDUCE_OP_MAX:
        return DCOLL_MAX;
    case DAT_IB_COLLECTIVE_REDUCE_OP_MIN:
        return DCOLL_MIN;
    case DAT_IB_COLLECTIVE_REDUCE_OP_SUM:
        return DCOLL_SUM;
    case DAT_IB_COLLECTIVE_REDUCE_OP_PROD:
        return DCOLL_PROD;
    case DAT_IB_COLLECTIVE_REDUCE_OP_LAND:
        return DCOLL_LAND;
    case DAT_IB_COLLECTIVE_REDUCE_OP_BAND:
        return DCOLL_BAND;
    case DAT_IB_COLLECTIVE_REDUCE_OP_LOR:
        return DCOLL_LOR;
    case DAT_IB_COLLECTIVE_REDUCE_OP_BOR:
        return DCOLL_BOR;
    case DAT_IB_COLLECTIVE_REDUCE_OP_LXOR:
        return DCOLL_LXOR;
    case DAT_IB_COLLECTIVE_REDUCE_OP_BXOR:
        return DCOLL_BXOR;
    default:
        return NONE;
    }
}

/* DAT: logical operators are not for floating-point types. */
static const dcoll_reduction_t *
reduction_of(const struct dapl_collective_call *call)
{
    int type = type_of(call->type), op = operator_of(call->reduction);
    bool logical = op == DCOLL_LAND || op == DCOLL_LOR || op == DCOLL_LXOR;
    if (type == NONE || op == NONE ||
        (logical && (type == DCOLL_FLOAT || type == DCOLL_DOUBLE)))
        return NULL;
    return dcoll_reduction((dcoll_type_t)type, (dcoll_operator_t)op);
}

static dcoll_collective_t collective_of(DAT_IB_OP op)
{
    switch (op) {
    case DAT_IB_COLLECTIVE_BROADCAST_OP:
        return DCOLL_BCAST;
    case DAT_IB_COLLECTIVE_GATHER_OP:
        return DCOLL_GATHER;
    case DAT_IB_COLLECTIVE_SCATTER_OP:
        return DCOLL_SCATTER;
    case DAT_IB_COLLECTIVE_ALLGATHER_OP:
        return DCOLL_ALLGATHER;
    case DAT_IB_COLLECTIVE_ALLTOALL_OP:
        return DCOLL_ALLTOALL;
    case DAT_IB_COLLECTIVE_REDUCE_OP:
        return DCOLL_REDUCE;
    case DAT_IB_COLLECTIVE_ALLREDUCE_OP:
        return DCOLL_ALLREDUCE;
    default:
        return DCOLL_BARRIER;
    }
}

static bool reduces(dcoll_collective_t collective)
{
    return collective == DCOLL_REDUCE || collective == DCOLL_ALLREDUCE;
}

/* NULL means in place, where a rank has a block of its own. */
static void set_buffers(const struct group *g,
                        const struct dapl_collective_call *from,
                        dcoll_call_t *call)
{
    bool is_root = from->root == g->star.self, in_place = from->bytes;
    call->send = from->send;
    call->recv = from->recv;
    switch (call->collective) {
    case DCOLL_BARRIER:
    case DCOLL_BCAST:
        call->send = NULL;
        return;
    case DCOLL_SCATTER:
        if (is_root && !from->recv && in_place)
            call->recv = DCOLL_IN_PLACE;
        return;
    case DCOLL_GATHER:
    case DCOLL_REDUCE:
        in_place = in_place && is_root;
        break;
    default:
        break;
    }
    if (!from->send && in_place)
        call->send = DCOLL_IN_PLACE;
}

static DAT_RETURN make_equal(const struct group *g,
                             const struct dapl_collective_call *from,
                             struct queued_call *to)
{
    dcoll_call_t *call = &to->equal;
    *call = (dcoll_call_t){.collective = collective_of(from->op),
                           .bytes = from->bytes,
                           .root = from->root};
    set_buffers(g, from, call);
    if (reduces(call->collective) && !(call->reduction = reduction_of(from)))
        return OFFLOAD_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    return DAT_SUCCESS;
}

/* ------------------------------------------------ blocks of other sizes --- */

/* What this rank sends, or receives, in an irregular all-to-all: of each rank's
 * block, its bytes, and where it lies behind the buffer's begin. */
struct side {
    size_t *counts, *displs;
};

/* Sets the side, and returns the begin of the buffer for dcoll. DAT allows
 * negative displacements, dcoll does not: its buffer begins with the lowest
 * block, if that lies before DAT's. */
static const unsigned char *place(unsigned n, const DAT_COUNT *sizes,
                                  const DAT_COUNT *displs, const void *buffer,
                                  struct side s)
{
    DAT_COUNT first = 0;
    for (unsigned i = 0; i < n; i++)
        first = displs[i] < first ? displs[i] : first;
    for (unsigned i = 0; i < n; i++) {
        s.counts[i] = (size_t)sizes[i];
        s.displs[i] = (size_t)((int64_t)displs[i] - first);
    }
    return buffer ? (const unsigned char *)buffer + first : NULL;
}

static void make_irregular(const struct group *g,
                           const struct dapl_collective_call *from,
                           struct queued_call *to)
{
    unsigned n = g->star.size, self = g->star.self;
    struct side send = {to->arrays, to->arrays + n};
    struct side recv = {to->arrays + 2 * n, to->arrays + 3 * n};
    bool from_one = from->op == DAT_IB_COLLECTIVE_SCATTERV_OP;
    bool to_one = from->op == DAT_IB_COLLECTIVE_GATHERV_OP;
    const void *out = from->send, *in = from->recv;
    if (from->send_sizes)
        out = place(n, from->send_sizes, from->send_displs, out, send);
    else if (from_one) /* this rank sends nothing */
        out = NULL;
    if (from->recv_sizes)
        in = place(n, from->recv_sizes, from->recv_displs, in, recv);
    else if (to_one)
        in = NULL;
    if (from_one) {
        recv.counts[from->root] = from->bytes;
    } else if (!from->send_sizes) {
        for (unsigned i = 0; i < n; i++)
            if (!to_one || i == from->root)
                send.counts[i] = from->bytes;
    }
    bool in_place = from_one ? !from->recv : !from->send;
    if (in_place) { /* this rank's own block is where it belongs */
        if (!from_one && !to_one && from->recv)
            out = (const unsigned char *)from->recv + from->recv_displs[self];
        send.counts[self] = recv.counts[self] = 0;
    }
    to->irregular = (dcoll_alltoallv_t){.send = out,
                                        .send_counts = send.counts,
                                        .send_displs = send.displs,
                                        .recv = (void *)(uintptr_t)in,
                                        .recv_counts = recv.counts,
                                        .recv_displs = recv.displs,
                                        .element = 1,
                                        .algorithm = "direct"};
}

/* ----------------------------------------------------------- both kinds --- */

static bool is_irregular(DAT_IB_OP op)
{
    return op == DAT_IB_COLLECTIVE_GATHERV_OP ||
           op == DAT_IB_COLLECTIVE_SCATTERV_OP ||
           op == DAT_IB_COLLECTIVE_ALLGATHERV_OP ||
           op == DAT_IB_COLLECTIVE_ALLTOALLV_OP;
}

DAT_RETURN queued_call_make(const struct group *g,
                            const struct dapl_collective_call *from,
                            struct queued_call *to)
{
    *to = (struct queued_call){.call = *from};
    if (!is_irregular(from->op))
        return make_equal(g, from, to);
    to->is_irregular = true;
    to->arrays = calloc(4 * (size_t)g->star.size, sizeof *to->arrays);
    if (!to->arrays)
        return OFFLOAD_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    make_irregular(g, from, to);
    return DAT_SUCCESS;
}

int queued_call_would_wait(dcoll_team_t *team, const struct queued_call *c)
{
    return c->is_irregular ? dcoll_alltoallv_would_wait(team, &c->irregular)
                           : dcoll_would_wait(team, &c->equal);
}

int queued_call_begin(dcoll_team_t *team, const struct queued_call *c,
                      dcoll_request_t **out)
{
    return c->is_irregular ? dcoll_alltoallv_begin(team, &c->irregular, out)
                           : dcoll_begin(team, &c->equal, out);
}
