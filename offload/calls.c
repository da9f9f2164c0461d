/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of DAT as those of libdcoll. */
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
    case DAT_IB_COLLECTIVE_ALLGATHER_OP:
        return DCOLL_ALLGATHER;
    case DAT_IB_COLLECTIVE_ALLREDUCE_OP:
        return DCOLL_ALLREDUCE;
    default:
        return DCOLL_BARRIER;
    }
}

bool offload_call(const struct dapl_collective_call *call, dcoll_call_t *out)
{
    *out = (dcoll_call_t){.collective = collective_of(call->op),
                          .send = call->send,
                          .recv = call->recv,
                          .bytes = call->bytes,
                          .root = call->root};
    if (out->collective == DCOLL_ALLREDUCE)
        out->reduction = reduction_of(call);
    if (out->collective == DCOLL_BCAST || out->collective == DCOLL_BARRIER)
        out->send = NULL;
    else if (!call->send && call->bytes)
        out->send = DCOLL_IN_PLACE;
    return out->collective != DCOLL_ALLREDUCE || out->reduction;
}
