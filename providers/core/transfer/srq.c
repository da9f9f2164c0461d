/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared Receive Queues: receives that several EPs take from. */
#include <stdlib.h>
#include <string.h>

#include "providers/core/internal.h"

static struct core_srq *srq_get(DAT_SRQ_HANDLE handle)
{
    return core_object_get(handle, DAT_HANDLE_TYPE_SRQ);
}

static void srq_destroy(void *object)
{
    struct core_srq *srq = object;
    core_unref(&srq->pz->o);
    pthread_mutex_destroy(&srq->lock);
    free(srq->wqe);
    core_object_free(srq);
}

static void srq_forked(void *object)
{
    struct core_srq *srq = object;
    pthread_mutex_init(&srq->lock,
                       NULL); /* the thread that held it does not exist here */
}

static const struct core_kind srq_kind = {
    .type = DAT_HANDLE_TYPE_SRQ, .destroy = srq_destroy, .forked = srq_forked};

DAT_RETURN core_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                           DAT_SRQ_ATTR *attr, DAT_SRQ_HANDLE *out)
{
    struct core_ia *ia = core_ia_get(ia_handle);
    struct core_pz *pz = core_pz_get(pz_handle);
    if (!ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!pz || pz->o.ia != ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if (!attr || attr->max_recv_dtos <= 0 ||
        (unsigned)attr->max_recv_dtos > ia->can.max_dtos ||
        attr->max_recv_iov < 0 ||
        (unsigned)attr->max_recv_iov > ia->can.max_iov ||
        attr->low_watermark < 0)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!ia->can.srq)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);

    struct core_srq *srq = NULL;
    struct core_wqe *wqe =
        calloc((size_t)attr->max_recv_dtos, sizeof(struct core_wqe));
    core_ia_lock(ia);
    if (wqe && ia->count[DAT_HANDLE_TYPE_SRQ] < ia->can.max_eps)
        srq = core_object_new(ia, &srq_kind, sizeof *srq);
    core_ia_unlock(ia);
    if (!srq) {
        free(wqe);
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
    }
    pthread_mutex_init(&srq->lock, NULL);
    srq->pz = pz;
    srq->wqe = wqe;
    srq->depth = (uint32_t)attr->max_recv_dtos;
    srq->max_iov =
        attr->max_recv_iov ? (uint32_t)attr->max_recv_iov : ia->can.max_iov;
    srq->low_watermark = attr->low_watermark;
    core_ref(&pz->o);
    *out = srq;
    return DAT_SUCCESS;
}

DAT_RETURN core_srq_free(DAT_SRQ_HANDLE handle)
{
    return core_object_end(handle, DAT_HANDLE_TYPE_SRQ,
                           DAT_INVALID_STATE_SRQ_IN_USE);
}

DAT_RETURN core_srq_post_recv(DAT_SRQ_HANDLE handle, DAT_COUNT nseg,
                              DAT_LMR_TRIPLET *seg, DAT_DTO_COOKIE cookie)
{
    struct core_srq *srq = srq_get(handle);
    if (!srq)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    uint64_t total;
    DAT_RETURN ret =
        core_check_iov(srq->o.ia, srq->pz, nseg, (DAT_COUNT)srq->max_iov, seg,
                       DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &total);
    if (ret != DAT_SUCCESS)
        return ret;
    pthread_mutex_lock(&srq->lock);
    bool was_empty = !srq->count;
    if (srq->count + srq->outstanding >= srq->depth) {
        ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
    } else {
        struct core_wqe *w = &srq->wqe[(srq->head + srq->count++) % srq->depth];
        w->cookie = cookie;
        w->flags = DAT_COMPLETION_DEFAULT_FLAG;
        w->nseg = (uint32_t)nseg;
        w->total = total;
        if (nseg) /* else there may be no list */
            memcpy(w->seg, seg, (size_t)nseg * sizeof *seg);
    }
    pthread_mutex_unlock(&srq->lock);
    /* a thread may sleep while a message waits for a receive */
    core_fence_light(core_fence_asymmetric);
    if (was_empty)
        core_ring(srq->o.ia, UINT64_MAX);
    return ret;
}

bool core_srq_take(struct core_srq *srq, struct core_wqe *w)
{
    bool low = false;
    pthread_mutex_lock(&srq->lock);
    bool found = srq->count > 0;
    if (found) {
        *w = srq->wqe[srq->head];
        srq->head = (srq->head + 1) % srq->depth;
        srq->count--;
        srq->outstanding++;
        low =
            srq->low_watermark > 0 && srq->count < (uint32_t)srq->low_watermark;
        if (low) /* once per arming, as DAT specifies */
            srq->low_watermark = 0;
    }
    pthread_mutex_unlock(&srq->lock);
    if (low)
        core_async_event(srq->o.ia, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR,
                         srq, DAT_SRQ_LOW_WATERMARK_EVENT);
    return found;
}

void core_srq_done(struct core_srq *srq)
{
    pthread_mutex_lock(&srq->lock);
    srq->outstanding--;
    pthread_mutex_unlock(&srq->lock);
}

DAT_RETURN core_srq_query(DAT_SRQ_HANDLE handle, DAT_SRQ_PARAM_MASK mask,
                          DAT_SRQ_PARAM *param)
{
    DAT_RETURN bad = core_query_check(handle, DAT_HANDLE_TYPE_SRQ,
                                      mask & ~DAT_SRQ_FIELD_ALL, param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_srq *srq = handle;
    pthread_mutex_lock(&srq->lock);
    *param = (DAT_SRQ_PARAM){
        .ia_handle = srq->o.ia,
        .srq_state = DAT_SRQ_STATE_OPERATIONAL,
        .pz_handle = srq->pz,
        .max_recv_dtos = (DAT_COUNT)srq->depth,
        .max_recv_iov = (DAT_COUNT)srq->max_iov,
        .low_watermark = srq->low_watermark,
        .available_dto_count = (DAT_COUNT)srq->count,
        .outstanding_dto_count = (DAT_COUNT)srq->outstanding,
    };
    pthread_mutex_unlock(&srq->lock);
    return DAT_SUCCESS;
}

DAT_RETURN core_srq_resize(DAT_SRQ_HANDLE handle, DAT_COUNT depth)
{
    struct core_srq *srq = srq_get(handle);
    if (!srq)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    if (depth <= 0 || (unsigned)depth > srq->o.ia->can.max_dtos)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    struct core_wqe *wqe = calloc((size_t)depth, sizeof *wqe);
    if (!wqe)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    DAT_RETURN ret = DAT_SUCCESS;
    pthread_mutex_lock(&srq->lock);
    if (srq->count + srq->outstanding > (uint32_t)depth) {
        ret = CORE_ERROR(DAT_INVALID_STATE, 0);
    } else {
        for (uint32_t i = 0; i < srq->count; i++)
            wqe[i] = srq->wqe[(srq->head + i) % srq->depth];
        struct core_wqe *old = srq->wqe;
        srq->wqe = wqe;
        wqe = old;
        srq->head = 0;
        srq->depth = (uint32_t)depth;
    }
    pthread_mutex_unlock(&srq->lock);
    free(wqe);
    return ret;
}

DAT_RETURN core_srq_set_lw(DAT_SRQ_HANDLE handle, DAT_COUNT low_watermark)
{
    struct core_srq *srq = srq_get(handle);
    if (!srq)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    if (low_watermark < 0 || (uint32_t)low_watermark > srq->depth)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    pthread_mutex_lock(&srq->lock);
    bool low = low_watermark > 0 && srq->count < (uint32_t)low_watermark;
    srq->low_watermark = low ? 0 : low_watermark;
    pthread_mutex_unlock(&srq->lock);
    if (low)
        core_async_event(srq->o.ia, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR,
                         srq, DAT_SRQ_LOW_WATERMARK_EVENT);
    return DAT_SUCCESS;
}
