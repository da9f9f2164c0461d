/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that break just when a DTO is posted. Stands in for the calls
 * that post; a program has one of it.
 */
#ifndef TESTS_CUT_H
#define TESTS_CUT_H

#include <stdarg.h>
#include <stdatomic.h>

#include "dapl_rail/base/dat.h"
#include "providers/core/extensions.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define CUT_RAILS 4
#define CUT_NEVER UINT32_MAX

/* By rail of this process. EPs come and go while one thread is at work. */
static struct {
    DAT_IA_HANDLE ias[CUT_RAILS];
    DAT_EP_HANDLE eps[CUT_RAILS];                     /* the newest */
    DAT_EVD_HANDLE evds[CUT_RAILS], conns[CUT_RAILS]; /* theirs */
    atomic_uint left[CUT_RAILS];                      /* DTOs before the cut */
    atomic_uint posted[CUT_RAILS], cuts;
    bool after;   /* the DTO is still posted, and then: */
    bool refuses; /* or it is refused, as by an EP that is not connected */
    bool direct;  /* messages may go past the calls that post and dequeue */
    bool (*full)(DAT_EP_HANDLE ep, DAT_DTO_COOKIE cookie); /* or NULL: has it
                                                              no room? */
    void (*freed)(DAT_EP_HANDLE ep); /* is about to be; or NULL */
    dapl_place_t place;              /* the transport's, of all EPs */
    unsigned placed;                 /* messages that it has found a place */
} cut = {.left = {CUT_NEVER, CUT_NEVER, CUT_NEVER, CUT_NEVER}};

/* Rails get a PZ each, in their order. */
STAND_IN DAT_RETURN dat_pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz)
{
    unsigned r = 0;
    while (cut.ias[r])
        r++;
    check(r < CUT_RAILS);
    cut.ias[r] = ia;
    return real(dat_pz_create)(ia, pz);
}

STAND_IN DAT_RETURN dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                                  DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                                  DAT_EVD_HANDLE conn, const DAT_EP_ATTR *attr,
                                  DAT_EP_HANDLE *ep)
{
    DAT_RETURN status =
        real(dat_ep_create)(ia, pz, recv, request, conn, attr, ep);
    for (unsigned r = 0; status == DAT_SUCCESS && r < CUT_RAILS; r++)
        if (cut.ias[r] == ia) {
            cut.eps[r] = *ep;
            cut.evds[r] = recv;
            cut.conns[r] = conn;
        }
    return status;
}

/* Another rail's may get its handle. */
STAND_IN DAT_RETURN dat_ep_free(DAT_EP_HANDLE ep)
{
    for (unsigned r = 0; r < CUT_RAILS; r++)
        if (cut.eps[r] == ep)
            cut.eps[r] = DAT_HANDLE_NULL;
    if (cut.freed)
        cut.freed(ep);
    return real(dat_ep_free)(ep);
}

/* Before and after each DTO. Is it refused? */
static inline bool cut_now(DAT_EP_HANDLE ep, bool after)
{
    unsigned r = 0;
    while (r < CUT_RAILS && cut.eps[r] != ep)
        r++;
    if (r == CUT_RAILS)
        return false;
    if (!after)
        cut.posted[r]++;
    if (after != cut.after || cut.left[r] == CUT_NEVER || cut.left[r]--)
        return false;
    cut.cuts++; /* left is CUT_NEVER */
    dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
    return cut.refuses;
}

#define CUT_REFUSED ((DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_STATE)
#define CUT_FULL    ((DAT_RETURN)DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES)

#define CUT_CALL(name, parameters, arguments)                                  \
    STAND_IN DAT_RETURN name parameters                                        \
    {                                                                          \
        if (cut.full && cut.full(ep, cookie))                                  \
            return CUT_FULL;                                                   \
        if (cut_now(ep, false))                                                \
            return CUT_REFUSED;                                                \
        DAT_RETURN status = real(name) arguments;                              \
        cut_now(ep, true);                                                     \
        return status;                                                         \
    }

CUT_CALL(dat_ep_post_send,
         (DAT_EP_HANDLE ep, DAT_COUNT n, DAT_LMR_TRIPLET *local,
          DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags),
         (ep, n, local, cookie, flags))
CUT_CALL(dat_ep_post_rdma_write,
         (DAT_EP_HANDLE ep, DAT_COUNT n, DAT_LMR_TRIPLET *local,
          DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
          DAT_COMPLETION_FLAGS flags),
         (ep, n, local, cookie, remote, flags))
CUT_CALL(dat_ep_post_rdma_read,
         (DAT_EP_HANDLE ep, DAT_COUNT n, DAT_LMR_TRIPLET *local,
          DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
          DAT_COMPLETION_FLAGS flags),
         (ep, n, local, cookie, remote, flags))

static void *cut_place(DAT_DTO_COOKIE cookie, size_t bytes)
{
    void *to = cut.place(cookie, bytes);
    cut.placed += to != NULL;
    return to;
}

/* dat_ib_post_rdma_write_immed() and the atomics; dapl_place(); and
 * dapl_direct(), whose functions would pass all of this by */
STAND_IN DAT_RETURN dat_extension_op(DAT_HANDLE ep, DAT_EXTENDED_OP op, ...)
{
    uint64_t a[8];
    va_list args;
    va_start(args, op);
    for (unsigned i = 0; i < 8; i++) /* words, as passed in registers */
        a[i] = va_arg(args, uint64_t);
    va_end(args);
    if (op == DAPL_PLACE_OP) {
        cut.place = (dapl_place_t)a[1];
        return real(dat_extension_op)(ep, op, a[0], cut_place);
    }
    if (op == DAPL_DIRECT_OP)
        return cut.direct ? real(dat_extension_op)(ep, op, a[0])
                          : (DAT_RETURN)DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED;
    if (cut_now(ep, false))
        return CUT_REFUSED;
    DAT_RETURN status = real(dat_extension_op)(ep, op, a[0], a[1], a[2], a[3],
                                               a[4], a[5], a[6], a[7]);
    cut_now(ep, true);
    return status;
}

#endif
