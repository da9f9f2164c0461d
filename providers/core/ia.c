/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface Adapters: opening, closing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#define MAX_IAS 128 /* of one process, unless max_ias says otherwise */

static atomic_uint open_ias;

static const struct core_kind ia_kind = {.type = DAT_HANDLE_TYPE_IA};

#define MRS_BYTES (CORE_MAX_MRS * sizeof(struct core_mr))

/* Most entries are never touched, and take no memory. */
static struct core_mr *mrs_new(void)
{
    void *mrs = mmap(NULL, MRS_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return mrs == MAP_FAILED ? NULL : mrs;
}

static void mrs_free(struct core_mr *mrs)
{
    if (mrs)
        munmap(mrs, MRS_BYTES);
}

static DAT_RETURN ia_open(const struct core_entry *entry, DAT_COUNT async_qlen,
                          DAT_EVD_HANDLE *async, DAT_IA_HANDLE *out)
{
    if (async_qlen < 0 || async_qlen > CORE_MAX_EVD_QLEN)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!async)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);

    struct core_evd *given = NULL;
    if (*async != DAT_HANDLE_NULL && *async != DAT_EVD_ASYNC_EXISTS) {
        given = core_evd_get(*async);
        if (!given || !(given->flags & DAT_EVD_ASYNC_FLAG))
            return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC);
    }

    DAT_RETURN ret =
        CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    struct core_ia *ia = NULL;
    unsigned most = entry->transport->max_ias;
    if (atomic_fetch_add(&open_ias, 1) >= (most ? most : MAX_IAS))
        goto fail;
    ia = core_object_new(NULL, &ia_kind, sizeof *ia);
    if (!ia || !(ia->mrs = mrs_new()))
        goto fail;
    ia->o.provider = &entry->table;
    ia->transport = entry->transport;
    ia->can = entry->transport->can;
    pthread_mutex_init(&ia->lock, NULL);
    pthread_mutex_init(&ia->bell_lock, NULL);
    core_fence_init();
    snprintf(ia->name, sizeof ia->name, "%s", entry->name);
    core_attribute_add(ia, DAPL_LMR_TRY_FREE, "TRUE");
    if (*async == DAT_HANDLE_NULL &&
        (ret = core_evd_new(ia, async_qlen, NULL, DAT_EVD_ASYNC_FLAG,
                            &ia->own_async)) != DAT_SUCCESS)
        goto fail;
    /* last: what it does outside the process need not be undone */
    ret = ia->transport->ia_open(ia, entry->params);
    if (ret != DAT_SUCCESS)
        goto fail;
    ret = core_collectives_open(ia, entry->collectives);
    if (ret != DAT_SUCCESS) {
        ia->transport->ia_close(ia);
        goto fail;
    }
    if (ia->own_async)
        *async = given = ia->own_async;
    if (given)
        core_async_begin(ia, given);
    core_fork_add(ia);
    *out = ia;
    return DAT_SUCCESS;

fail:
    atomic_fetch_sub(&open_ias, 1);
    if (ia) {
        if (ia->own_async)
            ia->own_async->o.kind->destroy(ia->own_async);
        mrs_free(ia->mrs);
        core_object_free(ia);
    }
    return ret;
}

DAT_RETURN core_ia_open(const struct core_entry *entry, DAT_COUNT async_qlen,
                        DAT_EVD_HANDLE *async, DAT_IA_HANDLE *out)
{
    int state = core_cancel_off();
    DAT_RETURN ret = ia_open(entry, async_qlen, async, out);
    core_cancel_as(state);
    return ret;
}

/* An abrupt close destroys everything: objects before those that they use. */
static void destroy_all(struct core_ia *ia)
{
    static const DAT_HANDLE_TYPE order[] = {
        (DAT_HANDLE_TYPE)DAT_IB_HANDLE_TYPE_COLLECTIVE,
        DAT_HANDLE_TYPE_CR,
        DAT_HANDLE_TYPE_RSP,
        DAT_HANDLE_TYPE_PSP,
        DAT_HANDLE_TYPE_EP,
        DAT_HANDLE_TYPE_RMR,
        DAT_HANDLE_TYPE_LMR,
        DAT_HANDLE_TYPE_SRQ,
        DAT_HANDLE_TYPE_PZ,
        DAT_HANDLE_TYPE_EVD,
        DAT_HANDLE_TYPE_CNO};
    ia->close_patience =
        CORE_PATIENCE; /* a stopped peer may be accessing memory */
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        for (struct core_object *o = ia->objects, *next; o; o = next) {
            next = o->next;
            if (o->type == order[i])
                o->kind->destroy(o);
        }
}

static DAT_RETURN ia_close(struct core_ia *ia, DAT_CLOSE_FLAGS flags)
{
    core_collectives_reap(ia, flags == DAT_CLOSE_ABRUPT_FLAG);
    core_ia_lock(ia);
    struct core_object *only = ia->own_async ? &ia->own_async->o : NULL;
    bool used = ia->objects && (ia->objects != only || ia->objects->next);
    if (only && atomic_load(&only->refs) > 1)
        used = true; /* the asynchronous events of another IA go there */
    if (used && flags == DAT_CLOSE_GRACEFUL_FLAG) {
        core_ia_unlock(ia);
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE);
    }
    core_async_end(ia);
    destroy_all(ia);
    core_ia_unlock(ia);

    core_collectives_close(ia);
    core_fork_remove(ia);
    ia->transport->ia_close(ia);
    core_epset_free(&ia->eps);
    core_epset_free(&ia->polled);
    pthread_mutex_destroy(&ia->bell_lock);
    pthread_mutex_destroy(&ia->lock);
    mrs_free(ia->mrs);
    core_object_free(ia);
    atomic_fetch_sub(&open_ias, 1);
    return DAT_SUCCESS;
}

DAT_RETURN core_ia_close(DAT_IA_HANDLE handle, DAT_CLOSE_FLAGS flags)
{
    struct core_ia *ia = core_ia_get(handle);
    if (!ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    int state = core_cancel_off();
    DAT_RETURN ret = ia_close(ia, flags);
    core_cancel_as(state);
    return ret;
}

DAT_RETURN core_ia_ha(DAT_IA_HANDLE handle, const DAT_NAME_PTR name,
                      DAT_BOOLEAN *answer)
{
    if (!core_ia_get(handle))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!name)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!answer)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    *answer = DAT_FALSE; /* no IA can replace another */
    return DAT_SUCCESS;
}
