/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that break just when a DTO is posted. Stands in for the calls
 * that post; a program has one of it.
 */
#ifndef TESTS_CUT_H
#define TESTS_CUT_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "dapl_rail/base/dat.h"
#include "standin.h"

#define CUT_RAILS 4
#define CUT_NEVER UINT32_MAX

/* The EPs of this process by rail, in the order in which IAs were opened. */
static struct {
    pthread_mutex_t lock;
    DAT_IA_HANDLE ias[CUT_RAILS];
    DAT_EP_HANDLE eps[CUT_RAILS]; /* the newest */
    atomic_uint left[CUT_RAILS];  /* DTOs before the cut */
    atomic_uint posted[CUT_RAILS], cuts;
    bool after; /* the DTO is still posted, and then: */
} cut = {.lock = PTHREAD_MUTEX_INITIALIZER,
         .left = {CUT_NEVER, CUT_NEVER, CUT_NEVER, CUT_NEVER}};

static inline unsigned cut_rail_of(DAT_IA_HANDLE ia)
{
    unsigned r = 0;
    while (cut.ias[r] && cut.ias[r] != ia)
        r++;
    check(r < CUT_RAILS);
    cut.ias[r] = ia;
    return r;
}

__attribute__((visibility("default"))) DAT_RETURN
dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv,
              DAT_EVD_HANDLE request, DAT_EVD_HANDLE conn,
              const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep)
{
    __typeof__(&dat_ep_create) real;
    *(void **)&real = real_call("dat_ep_create");
    DAT_RETURN status = real(ia, pz, recv, request, conn, attr, ep);
    pthread_mutex_lock(&cut.lock);
    if (status == DAT_SUCCESS)
        cut.eps[cut_rail_of(ia)] = *ep;
    pthread_mutex_unlock(&cut.lock);
    return status;
}

/* Before and after each DTO. */
static inline void cut_now(DAT_EP_HANDLE ep, bool after)
{
    unsigned r = 0;
    while (r < CUT_RAILS && cut.eps[r] != ep)
        r++;
    if (r == CUT_RAILS)
        return;
    if (!after)
        cut.posted[r]++;
    if (after != cut.after || cut.left[r] == CUT_NEVER || cut.left[r]--)
        return;
    cut.cuts++; /* left is CUT_NEVER */
    dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
}

#define CUT_CALL(name, parameters, arguments)                                  \
    __attribute__((visibility("default"))) DAT_RETURN name parameters          \
    {                                                                          \
        __typeof__(&name) real;                                                \
        *(void **)&real = real_call(#name);                                    \
        cut_now(ep, false);                                                    \
        DAT_RETURN status = real arguments;                                    \
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

/* dat_ib_post_rdma_write_immed() and the atomics */
__attribute__((visibility("default"))) DAT_RETURN
dat_extension_op(DAT_HANDLE ep, DAT_EXTENDED_OP op, ...)
{
    DAT_RETURN (*real)(DAT_HANDLE, DAT_EXTENDED_OP, ...);
    uint64_t a[8];
    va_list args;
    *(void **)&real = real_call("dat_extension_op");
    va_start(args, op);
    for (unsigned i = 0; i < 8; i++) /* words, as passed in registers */
        a[i] = va_arg(args, uint64_t);
    va_end(args);
    cut_now(ep, false);
    DAT_RETURN status =
        real(ep, op, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    cut_now(ep, true);
    return status;
}

#endif
