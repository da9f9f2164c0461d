/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/loopback.h"

#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/rails/fail.h"
#include "dapl_rail/rails/rail.h"

#define QLEN 8

struct loopback {
    DAT_EVD_HANDLE cr_evd, conn_evd, dto_evd;
    DAT_PSP_HANDLE psp; /* the rail's is for peers */
    DAT_CONN_QUAL qual;
    DAT_EP_HANDLE active, passive;
    unsigned up; /* so many of these are */
    drail_mem_t *mem;
    uint64_t *old; /* the adapter writes the old value there */
};

static int evds_create(struct rail *rail, struct loopback *l)
{
    int rc = rail_evd_create(rail, QLEN, DAT_EVD_CR_FLAG, &l->cr_evd);
    if (!rc)
        rc = rail_evd_create(rail, QLEN, DAT_EVD_CONNECTION_FLAG, &l->conn_evd);
    return rc ? rc : rail_evd_create(rail, QLEN, DAT_EVD_DTO_FLAG, &l->dto_evd);
}

static int ep_create(struct rail *rail, const struct loopback *l,
                     DAT_EP_HANDLE *ep)
{
    DAT_RETURN status = dat_ep_create(rail->ia, rail->pz, l->dto_evd,
                                      l->dto_evd, l->conn_evd, NULL, ep);
    if (status == DAT_SUCCESS)
        return 0;
    *ep = DAT_HANDLE_NULL;
    return dat_fail(rail, "dat_ep_create", status);
}

static int ask(struct rail *rail, const struct loopback *l)
{
    struct link_hello hello = hello_of(rail, 0);
    DAT_RETURN status =
        dat_ep_connect(l->active, (DAT_IA_ADDRESS_PTR)&rail->address, l->qual,
                       DAT_TIMEOUT_INFINITE, sizeof hello, &hello,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
    return status == DAT_SUCCESS ? 0 : dat_fail(rail, "dat_ep_connect", status);
}

int loopback_open(struct rail *rail)
{
    if (rail->loopback)
        return 0;
    struct loopback *l = calloc(1, sizeof *l);
    if (!l)
        return rail_fail(rail, DRAIL_ENOMEM, "out of memory");
    rail->loopback = l;
    int rc = drail_mem_alloc(rail->owner, sizeof *l->old, DRAIL_ACCESS_LOCAL,
                             (void **)&l->old, &l->mem);
    if (!rc)
        rc = evds_create(rail, l);
    if (!rc)
        rc = rail_listen_on(rail, l->cr_evd, &l->qual, &l->psp);
    if (!rc)
        rc = ep_create(rail, l, &l->active);
    if (!rc)
        rc = ep_create(rail, l, &l->passive);
    if (!rc)
        rc = ask(rail, l);
    if (rc)
        loopback_close(rail);
    return rc;
}

/* Is it the request of this connection? Any process may send one. */
static bool is_ours(const struct rail *rail, DAT_CR_HANDLE cr)
{
    const struct link_hello hello = hello_of(rail, 0);
    DAT_CR_PARAM param;
    memset(&param, 0, sizeof param);
    return dat_cr_query(cr, DAT_CR_FIELD_ALL, &param) == DAT_SUCCESS &&
           param.private_data &&
           param.private_data_size >= (DAT_COUNT)sizeof hello &&
           !memcmp(param.private_data, &hello, sizeof hello);
}

static int answer(struct rail *rail, const struct loopback *l)
{
    DAT_EVENT event;
    while (dat_evd_dequeue(l->cr_evd, &event) == DAT_SUCCESS) {
        DAT_CR_HANDLE cr = event.event_data.cr_arrival_event_data.cr_handle;
        if (!is_ours(rail, cr)) {
            dat_cr_reject(cr, 0, NULL);
            continue;
        }
        DAT_RETURN status = dat_cr_accept(cr, l->passive, 0, NULL);
        if (status != DAT_SUCCESS)
            return dat_fail(rail, "dat_cr_accept", status);
    }
    return 0;
}

int loopback_connect(struct rail *rail)
{
    struct loopback *l = rail->loopback;
    DAT_EVENT event;
    int rc = l->up < 2 ? answer(rail, l) : 0;
    while (!rc && dat_evd_dequeue(l->conn_evd, &event) == DAT_SUCCESS) {
        if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
            l->up++;
        else
            rc = rail_fail(rail, DRAIL_EPEER,
                           "%s: its connection to itself ended by event 0x%x",
                           rail->info.name, (unsigned)event.event_number);
    }
    return rc ? rc : l->up < 2 ? DRAIL_EAGAIN : 0;
}

int loopback_post(struct rail *rail, const struct wire_atomic *ask)
{
    const struct loopback *l = rail->loopback;
    DAT_DTO_COOKIE cookie = {.as_64 = 0};
    DAT_LMR_TRIPLET local = {
        .virtual_address = (uintptr_t)l->old,
        .segment_length = sizeof *l->old,
        .lmr_context = l->mem->region->lmr_context[rail->index],
    };
    DAT_RMR_TRIPLET remote = {
        .virtual_address = ask->address,
        .segment_length = sizeof *l->old,
        .rmr_context = ask->rmr_context,
    };
    DAT_RETURN status =
        ask->op == DRAIL_FETCH_ADD
            ? dat_ib_post_fetch_and_add(l->active, ask->operand, &local, cookie,
                                        &remote, DAT_COMPLETION_DEFAULT_FLAG)
            : dat_ib_post_cmp_and_swap(l->active, ask->compare, ask->operand,
                                       &local, cookie, &remote,
                                       DAT_COMPLETION_DEFAULT_FLAG);
    return status == DAT_SUCCESS ? 0
                                 : dat_fail(rail, "dat_extension_op", status);
}

int loopback_wait(struct rail *rail, unsigned us, uint64_t *old)
{
    const struct loopback *l = rail->loopback;
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_RETURN status = dat_evd_wait(l->dto_evd, us, 1, &event, &more);
    DAT_RETURN type = DAT_GET_TYPE(status);
    if (type == DAT_TIMEOUT_EXPIRED || type == DAT_INTERRUPTED_CALL)
        return DRAIL_EAGAIN;
    if (status != DAT_SUCCESS)
        return dat_fail(rail, "dat_evd_wait", status);
    DAT_DTO_COMPLETION_STATUS end =
        event.event_data.dto_completion_event_data.status;
    if (end != DAT_DTO_SUCCESS)
        return rail_fail(rail, dto_code(end),
                         "%s: an atomic on this rank's memory ended with %s",
                         rail->info.name, dto_error(end));
    *old = *(volatile uint64_t *)l->old;
    return 0;
}

static void ep_free(DAT_EP_HANDLE ep)
{
    if (!ep)
        return;
    dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
    dat_ep_free(ep);
}

void loopback_close(struct rail *rail)
{
    struct loopback *l = rail->loopback;
    if (!l)
        return;
    rail->loopback = NULL;
    ep_free(l->active);
    ep_free(l->passive);
    if (l->psp)
        dat_psp_free(l->psp);
    bool unused = rail_evd_free(l->dto_evd);
    unused &= rail_evd_free(l->conn_evd);
    unused &= rail_evd_free(l->cr_evd);
    rail->evds_left |= !unused;
    if (l->mem)
        drail_mem_release(l->mem);
    free(l);
}
