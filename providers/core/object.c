/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects and handles. The memory of an object is never given back while the
 * library is loaded; it serves later objects of the same type. So a freed
 * handle is recognised, and libdat2, which reads the provider pointer before it
 * calls the provider, reads valid memory.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define TYPES     CORE_HANDLE_TYPES
#define POOL_MOST 32u /* objects allocated at once */

static struct {
    pthread_mutex_t lock;
    struct core_object *freed[TYPES]; /* linked by next */
    unsigned made[TYPES];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void hold_over_fork(void)
{
    core_fork_hold(&pool.lock);
}

/* Allocates several objects, up to a bound and as many as have been made so
 * far: single ones would leave holes, as each begins with a cache line. Zeroed.
 * Not by aligned_alloc, which programs with a malloc of their own often lack.
 * The lock is held. */
static bool pool_fill(DAT_HANDLE_TYPE type, size_t size)
{
    unsigned n = pool.made[type] < POOL_MOST ? pool.made[type] : POOL_MOST;
    size_t stride = (size + CORE_CACHELINE - 1) & ~(size_t)(CORE_CACHELINE - 1);
    void *memory;
    n = n ? n : 1;
    if (posix_memalign(&memory, CORE_CACHELINE, n * stride))
        return false;
    memset(memory, 0, n * stride);
    pool.made[type] += n;
    while (n--) {
        struct core_object *o = (void *)((char *)memory + n * stride);
        o->next = pool.freed[type];
        pool.freed[type] = o;
    }
    return true;
}

static void *pool_take(const struct core_kind *kind, size_t size)
{
    pthread_mutex_lock(&pool.lock);
    struct core_object *o = NULL;
    if (pool.freed[kind->type] || pool_fill(kind->type, size)) {
        o = pool.freed[kind->type];
        pool.freed[kind->type] = o->next;
    }
    pthread_mutex_unlock(&pool.lock);
    return o ? memset(o, 0, kind->cleared ? kind->cleared : size) : NULL;
}

void *core_object_new(struct core_ia *ia, const struct core_kind *kind,
                      size_t size)
{
    struct core_object *o = pool_take(kind, size);
    if (!o)
        return NULL;
    o->type = kind->type;
    o->kind = kind;
    if (ia) {
        o->provider = ia->o.provider;
        o->ia = ia;
        o->next = ia->objects;
        if (o->next)
            o->next->prev = o;
        ia->objects = o;
        ia->count[o->type]++;
    }
    o->magic = CORE_MAGIC;
    return o;
}

void core_object_free(void *object)
{
    struct core_object *o = object;
    struct core_ia *ia = o->ia;
    if (ia) {
        if (o->prev)
            o->prev->next = o->next;
        else
            ia->objects = o->next;
        if (o->next)
            o->next->prev = o->prev;
        ia->count[o->type]--;
    }
    o->magic = 0;
    o->prev = NULL;
    pthread_mutex_lock(&pool.lock);
    o->next = pool.freed[o->type];
    pool.freed[o->type] = o;
    pthread_mutex_unlock(&pool.lock);
}

DAT_RETURN core_bad_handle(DAT_HANDLE_TYPE type)
{
    static const DAT_RETURN_SUBTYPE subtype[TYPES] = {
        [DAT_HANDLE_TYPE_CR] = DAT_INVALID_HANDLE_CR,
        [DAT_HANDLE_TYPE_EP] = DAT_INVALID_HANDLE_EP,
        [DAT_HANDLE_TYPE_EVD] = DAT_NO_SUBTYPE, /* those are by stream */
        [DAT_HANDLE_TYPE_IA] = DAT_INVALID_HANDLE_IA,
        [DAT_HANDLE_TYPE_LMR] = DAT_INVALID_HANDLE_LMR,
        [DAT_HANDLE_TYPE_PSP] = DAT_INVALID_HANDLE_PSP,
        [DAT_HANDLE_TYPE_PZ] = DAT_INVALID_HANDLE_PZ,
        [DAT_HANDLE_TYPE_RMR] = DAT_INVALID_HANDLE_RMR,
        [DAT_HANDLE_TYPE_RSP] = DAT_INVALID_HANDLE_RSP,
        [DAT_HANDLE_TYPE_CNO] = DAT_INVALID_HANDLE_CNO,
        [DAT_HANDLE_TYPE_SRQ] = DAT_INVALID_HANDLE_SRQ,
        [DAT_HANDLE_TYPE_CSP] = DAT_INVALID_HANDLE_CSP,
    };
    return CORE_ERROR(DAT_INVALID_HANDLE, subtype[type]);
}

DAT_RETURN core_object_end(DAT_HANDLE handle, DAT_HANDLE_TYPE type,
                           DAT_RETURN_SUBTYPE in_use)
{
    struct core_object *o = core_object_get(handle, type);
    if (!o)
        return core_bad_handle(type);
    struct core_ia *ia = o->ia;
    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    if (atomic_load(&o->refs))
        ret = CORE_ERROR(DAT_INVALID_STATE, in_use);
    else
        o->kind->destroy(o);
    core_ia_unlock(ia);
    return ret;
}

DAT_RETURN core_query_check(DAT_HANDLE handle, DAT_HANDLE_TYPE type,
                            uint64_t unknown, const void *param)
{
    if (!core_object_get(handle, type))
        return core_bad_handle(type);
    if (unknown)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    return DAT_SUCCESS;
}

static struct core_object *any_object(DAT_HANDLE handle)
{
    struct core_object *o = handle;
    return o && !((uintptr_t)o & 7) && o->magic == CORE_MAGIC ? o : NULL;
}

DAT_RETURN core_set_context(DAT_HANDLE handle, DAT_CONTEXT context)
{
    struct core_object *o = any_object(handle);
    if (!o)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    o->context = context;
    return DAT_SUCCESS;
}

DAT_RETURN core_get_context(DAT_HANDLE handle, DAT_CONTEXT *context)
{
    struct core_object *o = any_object(handle);
    if (!o)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    if (!context)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    *context = o->context;
    return DAT_SUCCESS;
}

DAT_RETURN core_get_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
    struct core_object *o = any_object(handle);
    if (!o)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    if (!type)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    *type = o->type;
    return DAT_SUCCESS;
}
