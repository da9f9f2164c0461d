/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The InfiniBand extensions of dat_ib_extensions.h that are offered: RDMA write
 * with immediate data, and the two 64-bit atomics; placed receives; the number
 * of counted writes; the functions for direct messages; and attempts to free an
 * LMR. Collectives are in providers/core/collectives.
 */
#include "providers/core/internal.h"

static DAT_RETURN atomic_op(DAT_HANDLE ep, enum core_op op, va_list args)
{
    struct core_dto dto = {.op = op, .nseg = 1};
    if (op == CORE_CMP_SWAP)
        dto.compare = va_arg(args, DAT_UINT64);
    dto.operand = va_arg(args, DAT_UINT64);
    dto.seg = va_arg(args, DAT_LMR_TRIPLET *);
    dto.cookie = va_arg(args, DAT_DTO_COOKIE);
    const DAT_RMR_TRIPLET *remote = va_arg(args, DAT_RMR_TRIPLET *);
    dto.flags = va_arg(args, DAT_COMPLETION_FLAGS);
    if (!dto.seg || dto.seg->segment_length < 8)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!remote || remote->segment_length < 8 || remote->virtual_address % 8)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    /* exactly eight bytes on either side */
    DAT_LMR_TRIPLET local = *dto.seg;
    DAT_RMR_TRIPLET target = *remote;
    local.segment_length = 8;
    target.segment_length = 8;
    dto.seg = &local;
    return core_post_remote(ep, &dto, &target, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
}

static DAT_RETURN write_immed(DAT_HANDLE ep, va_list args)
{
    struct core_dto dto = {.op = CORE_WRITE_IMMED};
    dto.nseg = (uint32_t)va_arg(args, DAT_COUNT);
    dto.seg = va_arg(args, DAT_LMR_TRIPLET *);
    dto.cookie = va_arg(args, DAT_DTO_COOKIE);
    const DAT_RMR_TRIPLET *remote = va_arg(args, DAT_RMR_TRIPLET *);
    dto.immed = va_arg(args, DAT_UINT32);
    dto.flags = va_arg(args, DAT_COMPLETION_FLAGS);
    return core_post_remote(ep, &dto, remote, DAT_MEM_PRIV_LOCAL_READ_FLAG);
}

static DAT_RETURN set_place(struct core_ep *ep, va_list args)
{
    DAT_COUNT head = va_arg(args, DAT_COUNT);
    DAT_EP_STATE state = core_ep_state(ep);
    if (head < 0 || head > (DAT_COUNT)CORE_PLACED_LEAST)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (state != DAT_EP_STATE_UNCONNECTED)
        return core_ep_bad_state(state);
    ep->place_head = (uint32_t)head;
    ep->place = va_arg(args, dapl_place_t);
    return DAT_SUCCESS;
}

static DAT_RETURN writes_counted(struct core_ep *ep, va_list args)
{
    DAT_UINT64 *count = va_arg(args, DAT_UINT64 *);
    if (!count)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    core_ia_lock(ep->o.ia);
    *count = ep->tp ? ep->o.ia->transport->writes_counted(ep) : 0;
    core_ia_unlock(ep->o.ia);
    return DAT_SUCCESS;
}

static DAT_RETURN direct_of(const struct core_ep *ep, va_list args)
{
    const struct dapl_direct **direct =
        va_arg(args, const struct dapl_direct **);
    if (!direct)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    *direct = &ep->o.ia->transport->direct;
    return DAT_SUCCESS;
}

/* The list can't be passed on by its address where it is a parameter. A thread
 * can't be cancelled there: it may hold locks of the library. */
static DAT_RETURN collective(DAT_HANDLE handle, DAT_EXTENDED_OP op,
                             va_list args)
{
    va_list copy;
    va_copy(copy, args);
    int state = core_cancel_off();
    DAT_RETURN ret = core_collectives_op(handle, (DAT_IB_OP)op, &copy);
    core_cancel_as(state);
    va_end(copy);
    return ret;
}

DAT_RETURN core_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op,
                             va_list args)
{
    if (op == DAPL_LMR_TRY_FREE_OP)
        return core_lmr_try_free(handle);
    if ((int)op >= DAT_IB_COLLECTIVE_CREATE_MEMBER_OP &&
        (int)op <= DAT_IB_COLLECTIVE_BARRIER_OP)
        return collective(handle, op, args);
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return core_bad_handle(DAT_HANDLE_TYPE_EP);
    const struct core_ability *can = &ep->o.ia->can;
    if (op == DAPL_PLACE_OP && can->places)
        return set_place(ep, args);
    if (op == DAPL_WRITES_COUNTED_OP && can->counts)
        return writes_counted(ep, args);
    if (op == DAPL_DIRECT_OP && can->direct)
        return direct_of(ep, args);
    if (op == DAT_IB_FETCH_AND_ADD_OP && can->atomics)
        return atomic_op(handle, CORE_FETCH_ADD, args);
    if (op == DAT_IB_CMP_AND_SWAP_OP && can->atomics)
        return atomic_op(handle, CORE_CMP_SWAP, args);
    if (op == DAT_IB_RDMA_WRITE_IMMED_OP && can->write_immed)
        return write_immed(handle, args);
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}
