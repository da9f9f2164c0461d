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

/* The header does not say whether the size of the larger buffer is that of a
 * block or of all: both are allowed. */
static bool has_room(const struct core_group *g, DAT_COUNT room,
                     DAT_COUNT block)
{
    return room >= 0 &&
           (room == block || (uint64_t)room >= (uint64_t)block * g->size);
}

static DAT_RETURN gather(const struct core_group *g, va_list *args,
                         struct dapl_collective_call *call)
{
    call->send = va_arg(*args, DAT_PVOID);
    DAT_COUNT block = va_arg(*args, DAT_COUNT);
    call->recv = va_arg(*args, DAT_PVOID);
    DAT_COUNT room = va_arg(*args, DAT_COUNT);
    call->root = va_arg(*args, DAT_IB_COLLECTIVE_RANK);
    completion(args, call);
    bool is_root = call->root == g->self;
    if (block < 0)
        return BAD(4);
    if (block && !(is_root ? call->recv : call->send))
        return is_root ? BAD(5) : BAD(3);
    if (is_root && !has_room(g, room, block))
        return BAD(6);
    if (call->root >= g->size)
        return BAD(7);
    call->bytes = (size_t)block;
    return DAT_SUCCESS;
}

static DAT_RETURN scatter(const struct core_group *g, va_list *args,
                          struct dapl_collective_call *call)
{
    call->send = va_arg(*args, DAT_PVOID);
    DAT_COUNT all = va_arg(*args, DAT_COUNT);
    call->recv = va_arg(*args, DAT_PVOID);
    DAT_COUNT block = va_arg(*args, DAT_COUNT);
    call->root = va_arg(*args, DAT_IB_COLLECTIVE_RANK);
    completion(args, call);
    bool is_root = call->root == g->self;
    if (block < 0)
        return BAD(6);
    if (block && !(is_root ? call->send : call->recv))
        return is_root ? BAD(3) : BAD(5);
    if (is_root && !has_room(g, all, block))
        return BAD(4);
    if (call->root >= g->size)
        return BAD(7);
    call->bytes = (size_t)block;
    return DAT_SUCCESS;
}

/* All-gather and all-to-all. */
static DAT_RETURN to_all(const struct core_group *g, va_list *args,
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
    if (!has_room(g, room, block))
        return BAD(6);
    call->bytes = (size_t)block;
    return DAT_SUCCESS;
}

/* ------------------------------------------------ blocks of other sizes --- */

static bool are_sizes(const struct core_group *g, const DAT_COUNT *sizes,
                      const DAT_COUNT *displs)
{
    bool good = sizes && displs;
    for (unsigned i = 0; good && i < g->size; i++)
        good = sizes[i] >= 0;
    return good;
}

/* Is there a buffer, unless all blocks are empty? */
static bool has_buffer(const struct core_group *g, const void *buffer,
                       const DAT_COUNT *sizes)
{
    bool empty = true;
    for (unsigned i = 0; empty && i < g->size; i++)
        empty = !sizes[i];
    return buffer || empty;
}

static DAT_RETURN gatherv(const struct core_group *g, va_list *args,
                          struct dapl_collective_call *call)
{
    call->send = va_arg(*args, DAT_PVOID);
    DAT_COUNT bytes = va_arg(*args, DAT_COUNT);
    call->recv = va_arg(*args, DAT_PVOID);
    const DAT_COUNT *sizes = va_arg(*args, DAT_COUNT *);
    const DAT_COUNT *displs = va_arg(*args, DAT_COUNT *);
    call->root = va_arg(*args, DAT_IB_COLLECTIVE_RANK);
    completion(args, call);
    if (bytes < 0)
        return BAD(4);
    if (call->root >= g->size)
        return BAD(8);
    call->bytes = (size_t)bytes;
    if (call->root != g->self)
        return bytes && !call->send ? BAD(3) : DAT_SUCCESS;
    call->recv_sizes = sizes;
    call->recv_displs = displs;
    if (!are_sizes(g, sizes, displs))
        return BAD(6);
    return has_buffer(g, call->recv, sizes) ? DAT_SUCCESS : BAD(5);
}

static DAT_RETURN scatterv(const struct core_group *g, va_list *args,
                           struct dapl_collective_call *call)
{
    call->send = va_arg(*args, DAT_PVOID);
    const DAT_COUNT *sizes = va_arg(*args, DAT_COUNT *);
    const DAT_COUNT *displs = va_arg(*args, DAT_COUNT *);
    call->recv = va_arg(*args, DAT_PVOID);
    DAT_COUNT bytes = va_arg(*args, DAT_COUNT);
    call->root = va_arg(*args, DAT_IB_COLLECTIVE_RANK);
    completion(args, call);
    if (bytes < 0)
        return BAD(7);
    if (call->root >= g->size)
        return BAD(8);
    call->bytes = (size_t)bytes;
    if (call->root != g->self)
        return bytes && !call->recv ? BAD(6) : DAT_SUCCESS;
    call->send_sizes = sizes;
    call->send_displs = displs;
    if (!are_sizes(g, sizes, displs))
        return BAD(4);
    return has_buffer(g, call->send, sizes) ? DAT_SUCCESS : BAD(3);
}

static DAT_RETURN allgatherv(const struct core_group *g, va_list *args,
                             struct dapl_collective_call *call)
{
    call->send = va_arg(*args, DAT_PVOID);
    DAT_COUNT bytes = va_arg(*args, DAT_COUNT);
    call->recv = va_arg(*args, DAT_PVOID);
    call->recv_sizes = va_arg(*args, DAT_COUNT *);
    call->recv_displs = va_arg(*args, DAT_COUNT *);
    completion(args, call);
    if (bytes < 0)
        return BAD(4);
    call->bytes = (size_t)bytes;
    if (!are_sizes(g, call->recv_sizes, call->recv_displs))
        return BAD(6);
    return has_buffer(g, call->recv, call->recv_sizes) ? DAT_SUCCESS : BAD(5);
}

/* Not in place. */
static DAT_RETURN alltoallv(const struct core_group *g, va_list *args,
                            struct dapl_collective_call *call)
{
    call->send = va_arg(*args, DAT_PVOID);
    call->send_sizes = va_arg(*args, DAT_COUNT *);
    call->send_displs = va_arg(*args, DAT_COUNT *);
    call->recv = va_arg(*args, DAT_PVOID);
    call->recv_sizes = va_arg(*args, DAT_COUNT *);
    call->recv_displs = va_arg(*args, DAT_COUNT *);
    completion(args, call);
    if (!are_sizes(g, call->send_sizes, call->send_displs))
        return BAD(4);
    if (!are_sizes(g, call->recv_sizes, call->recv_displs))
        return BAD(7);
    if (!has_buffer(g, call->send, call->send_sizes))
        return BAD(3);
    return has_buffer(g, call->recv, call->recv_sizes) ? DAT_SUCCESS : BAD(6);
}

/* ----------------------------------------------------------- reductions --- */

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

/* Reads the operation and the type, and checks what is sent. */
static DAT_RETURN reduction(va_list *args, struct dapl_collective_call *call,
                            DAT_COUNT bytes)
{
    call->reduction = va_arg(*args, DAT_IB_COLLECTIVE_REDUCE_DATA_OP);
    call->type = va_arg(*args, DAT_IB_COLLECTIVE_DATA_TYPE);
    size_t size = element(call->type);
    if ((unsigned)call->reduction > DAT_IB_COLLECTIVE_REDUCE_OP_MINLOC)
        return BAD(7);
    if ((unsigned)call->type > DAT_IB_COLLECTIVE_TYPE_DOUBLE_INT)
        return BAD(8);
    if (!size)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    if (bytes < 0 || (size_t)bytes % size)
        return BAD(4);
    call->bytes = (size_t)bytes;
    return DAT_SUCCESS;
}

static DAT_RETURN allreduce(const struct core_group *g, va_list *args,
                            struct dapl_collective_call *call)
{
    (void)g;
    call->send = va_arg(*args, DAT_PVOID);
    DAT_COUNT bytes = va_arg(*args, DAT_COUNT);
    call->recv = va_arg(*args, DAT_PVOID);
    DAT_COUNT room = va_arg(*args, DAT_COUNT);
    DAT_RETURN bad = reduction(args, call, bytes);
    completion(args, call);
    if (bad != DAT_SUCCESS)
        return bad;
    if (bytes && !call->recv)
        return BAD(5);
    return room < bytes ? BAD(6) : DAT_SUCCESS;
}

static DAT_RETURN reduce(const struct core_group *g, va_list *args,
                         struct dapl_collective_call *call)
{
    call->send = va_arg(*args, DAT_PVOID);
    DAT_COUNT bytes = va_arg(*args, DAT_COUNT);
    call->recv = va_arg(*args, DAT_PVOID);
    DAT_COUNT room = va_arg(*args, DAT_COUNT);
    DAT_RETURN bad = reduction(args, call, bytes);
    call->root = va_arg(*args, DAT_IB_COLLECTIVE_RANK);
    completion(args, call);
    bool is_root = call->root == g->self;
    if (bad != DAT_SUCCESS)
        return bad;
    if (call->root >= g->size)
        return BAD(9);
    if (bytes && !(is_root ? call->recv : call->send))
        return is_root ? BAD(5) : BAD(3);
    return is_root && room < bytes ? BAD(6) : DAT_SUCCESS;
}

#define COLLECTIVE(name, arguments)                                            \
    {                                                                          \
        DAT_IB_COLLECTIVE_##name##_OP, DAT_IB_COLL_##name,                     \
            DAT_IB_COLLECTIVE_##name##_STATUS, arguments                       \
    }

/* Not those that Intel MPI 2018 calls wrongly. Its MPI_Exscan calls the scan,
 * too. Its MPI_Reduce_scatter computes sizes in 32 bits, with products that do
 * not fit. */
const struct core_collective *core_collective_of(DAT_IB_OP op)
{
    static const struct core_collective known[] = {
        COLLECTIVE(BARRIER, barrier),  COLLECTIVE(BROADCAST, broadcast),
        COLLECTIVE(GATHER, gather),    COLLECTIVE(GATHERV, gatherv),
        COLLECTIVE(SCATTER, scatter),  COLLECTIVE(SCATTERV, scatterv),
        COLLECTIVE(ALLGATHER, to_all), COLLECTIVE(ALLGATHERV, allgatherv),
        COLLECTIVE(ALLTOALL, to_all),  COLLECTIVE(ALLTOALLV, alltoallv),
        COLLECTIVE(REDUCE, reduce),    COLLECTIVE(ALLREDUCE, allreduce),
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].op == op)
            return &known[i];
    return NULL;
}
