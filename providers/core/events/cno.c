/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Consumer Notification Objects: one wait for several EVDs of an IA. An EVD
 * remembers that it triggered until a wait on its CNO reports it.
 */
#include "providers/core/internal.h"

static void cno_forked(void *object)
{
    struct core_cno *cno = object;
    atomic_store(&cno->waiting, false); /* its waiter does not exist here */
    cno->bell = 0;
}

static const struct core_kind cno_kind = {.type = DAT_HANDLE_TYPE_CNO,
                                          .destroy = core_object_free,
                                          .forked = cno_forked};

DAT_RETURN core_cno_create(DAT_IA_HANDLE ia_handle,
                           DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE *out)
{
    struct core_ia *ia = core_ia_get(ia_handle);
    if (!ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    /* an agent would never be called: there are no interrupts */
    if (agent.proxy_agent_func)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);

    struct core_cno *cno = NULL;
    core_ia_lock(ia);
    if (ia->count[DAT_HANDLE_TYPE_CNO] < ia->can.max_eps)
        cno = core_object_new(ia, &cno_kind, sizeof *cno);
    core_ia_unlock(ia);
    if (!cno)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    *out = cno;
    return DAT_SUCCESS;
}

DAT_RETURN core_cno_modify_agent(DAT_CNO_HANDLE handle,
                                 DAT_OS_WAIT_PROXY_AGENT agent)
{
    if (!core_object_get(handle, DAT_HANDLE_TYPE_CNO))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    if (agent.proxy_agent_func)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
    return DAT_SUCCESS;
}

DAT_RETURN core_cno_query(DAT_CNO_HANDLE handle, DAT_CNO_PARAM_MASK mask,
                          DAT_CNO_PARAM *param)
{
    /* DAT_CNO_FIELD_ALL of the header (4) does not cover all fields */
    DAT_RETURN bad = core_query_check(
        handle, DAT_HANDLE_TYPE_CNO,
        mask & ~(DAT_CNO_FIELD_IA_HANDLE | DAT_CNO_FIELD_PROXY_TYPE |
                 DAT_CNO_FIELD_PROXY | DAT_CNO_FIELD_ALL),
        param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_cno *cno = handle;
    param->ia_handle = cno->o.ia;
    param->proxy_type = DAT_PROXY_TYPE_NONE;
    param->proxy.agent = DAT_OS_WAIT_PROXY_AGENT_NULL;
    return DAT_SUCCESS;
}

DAT_RETURN core_cno_free(DAT_CNO_HANDLE handle)
{
    struct core_cno *cno = core_object_get(handle, DAT_HANDLE_TYPE_CNO);
    if (!cno)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    struct core_ia *ia = cno->o.ia;
    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    if (atomic_load(&cno->o.refs) || atomic_load(&cno->waiting))
        ret = CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
    else
        core_object_free(cno);
    core_ia_unlock(ia);
    return ret;
}

struct cno_wait {
    struct core_waiter w;
    struct core_evd *triggered; /* out */
};

/* The transport is called without the lock that keeps the CNO's EVDs as they
 * are, so for the whole IA. */
static bool cno_ready(struct core_waiter *waiter)
{
    struct cno_wait *w = (struct cno_wait *)waiter;
    core_poll(waiter->ia, NULL, false);
    core_ia_lock(waiter->ia);
    struct core_evd *evd = NULL;
    while (!w->triggered && (evd = core_cno_next(waiter->cno, evd)))
        if (atomic_load(&evd->enabled) &&
            atomic_exchange(&evd->triggered, false))
            w->triggered = evd;
    core_ia_unlock(waiter->ia);
    return w->triggered;
}

DAT_RETURN core_cno_wait(DAT_CNO_HANDLE handle, DAT_TIMEOUT timeout,
                         DAT_EVD_HANDLE *out)
{
    struct core_cno *cno = core_object_get(handle, DAT_HANDLE_TYPE_CNO);
    if (!cno)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    struct cno_wait w = {.w = {.ia = cno->o.ia,
                               .cno = cno,
                               .ready = cno_ready,
                               .waiting = &cno->waiting}};
    if (!core_wait_begin(&w.w))
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
    DAT_RETURN ret = core_wait(&w.w, timeout);
    *out = w.triggered ? (DAT_EVD_HANDLE)w.triggered : DAT_HANDLE_NULL;
    core_wait_end(&w.w);
    return ret;
}
