/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks the arguments of each collective. BAD(n) names the n-th
 * argument of dat_extension_op(): the first is the handle, the second is the
 * operation, and the operation's own arguments follow. */
#include "providers/core/collectives/collectives.h"

#define BAD(number) CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##number)

static void completion(va_list *args, struct dapl_collective_call *call)
{
    call->context = va_arg(*args, DAT_CONTEXT);
    call->flags = va_arg(*args, DAT_COMPLETION_FLAGS);
}

static DAT_RETURN barrier(const struct core_group *g, va_list *args,
                          struct dapl_collective_call *call)
{
    (void)g;
    completion(args, call);
    return DAT_SUCCESS;
}

static DAT_RETURN broadcast(const struct core_group *g, va_list *args,
                            struct dapl_collective_call *call)
{
    call->recv = va_arg(*args, DAT_PVOID);
    DAT_COUNT bytes = va_arg(*args, DAT_COUNT);
    call->root = va_arg(*args, DAT_IB_COLLECTIVE_RANK);
    completion(args, call);
    if (bytes < 0)
        return BAD(4);
    if (bytes && !call->recv)
        return BAD(3);
    if (call->root >= g->size)
        return BAD(5);
    call->bytes = (size_t)bytes;
    return DAT_SUCCESS;
}

/* The header does not say whether the size of the receive buffer is that of a
 * block or of all: both are allowed. */
static DAT_RETURN allgather(const struct core_group *g, va_list *args,
                            struct dapl_collective_call *call)
{
    call->send = va_arg(*args, DAT_PVOID);
    DAT_COUNT block = va_arg(*args, DAT_COUNT);
    call->recv = va_arg(*args, DAT_PVOID);
    DAT_COUNT room = va_arg(*args, DAT_COUNT);
    completion(args, call);
    if (block < 0)
        return BAD(4);
    if (block && !call->recv)
        return BAD(5);
    if (room < 0 ||
        (room != block && (uint64_t)room < (uint64_t)block * g->size))
        return BAD(6);
    call->bytes = (size_t)block;
    return DAT_SUCCESS;
}

static size_t element(DAT_IB_COLLECTIVE_DATA_TYPE type)
{
    static const unsigned char bytes[] = {
        [DAT_IB_COLLECTIVE_TYPE_INT8] = 1,  [DAT_IB_COLLECTIVE_TYPE_UINT8] = 1,
        [DAT_IB_COLLECTIVE_TYPE_INT16] = 2, [DAT_IB_COLLECTIVE_TYPE_UINT16] = 2,
        [DAT_IB_COLLECTIVE_TYPE_INT32] = 4, [DAT_IB_COLLECTIVE_TYPE_UINT32] = 4,
        [DAT_IB_COLLECTIVE_TYPE_INT64] = 8, [DAT_IB_COLLECTIVE_TYPE_UINT64] = 8,
        [DAT_IB_COLLECTIVE_TYPE_FLOAT] = 4, [DAT_IB_COLLECTIVE_TYPE_DOUBLE] = 8,
    };
    return (unsigned)type < sizeof bytes ? bytes[type] : 0;
}

static DAT_RETURN allreduce(const struct core_group *g, va_list *args,
                            struct dapl_collective_call *call)
{
    (void)g;
    call->send = va_arg(*args, DAT_PVOID);
    DAT_COUNT bytes = va_arg(*args, DAT_COUNT);
    call->recv = va_arg(*args, DAT_PVOID);
    DAT_COUNT room = va_arg(*args, DAT_COUNT);
    call->reduction = va_arg(*args, DAT_IB_COLLECTIVE_REDUCE_DATA_OP);
    call->type = va_arg(*args, DAT_IB_COLLECTIVE_DATA_TYPE);
    completion(args, call);
    size_t size = element(call->type);
    if ((unsigned)call->reduction > DAT_IB_COLLECTIVE_REDUCE_OP_MINLOC)
        return BAD(7);
    if ((unsigned)call->type > DAT_IB_COLLECTIVE_TYPE_DOUBLE_INT)
        return BAD(8);
    if (!size)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    if (bytes < 0 || (size_t)bytes % size)
        return BAD(4);
    if (bytes && !call->recv)
        return BAD(5);
    if (room < bytes)
        return BAD(6);
    call->bytes = (size_t)bytes;
    return DAT_SUCCESS;
}

const struct core_collective *core_collective_of(DAT_IB_OP op)
{
    static const struct core_collective known[] = {
        {DAT_IB_COLLECTIVE_BARRIER_OP, DAT_IB_COLL_BARRIER,
         DAT_IB_COLLECTIVE_BARRIER_STATUS, barrier},
        {DAT_IB_COLLECTIVE_BROADCAST_OP, DAT_IB_COLL_BROADCAST,
         DAT_IB_COLLECTIVE_BROADCAST_STATUS, broadcast},
        {DAT_IB_COLLECTIVE_ALLGATHER_OP, DAT_IB_COLL_ALLGATHER,
         DAT_IB_COLLECTIVE_ALLGATHER_STATUS, allgather},
        {DAT_IB_COLLECTIVE_ALLREDUCE_OP, DAT_IB_COLL_ALLREDUCE,
         DAT_IB_COLLECTIVE_ALLREDUCE_STATUS, allreduce},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].op == op)
            return &known[i];
    return NULL;
}
