/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members and groups. The IA's member is what other ranks know of it; a group
 * is an object of the IA, whose events go to one EVD. Polls of that EVD let the
 * library make progress.
 */
#include "providers/core/collectives/collectives.h"

/* -------------------------------------------------------------- members --- */

static DAT_RETURN create_member(struct core_ia *ia, va_list *args)
{
    struct core_collectives *c = ia->collectives;
    (void)va_arg(*args, void *); /* progress_func: no call blocks for long */
    DAT_IB_COLLECTIVE_MEMBER *out = va_arg(*args, DAT_IB_COLLECTIVE_MEMBER *);
    DAT_COUNT *bytes = va_arg(*args, DAT_COUNT *);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!bytes)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    core_ia_lock(ia);
    const char *const own[] = {ia->name, NULL};
    DAT_RETURN ret = CORE_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
    if (!c->member)
        ret = c->library->create_member(ia->carriers ? ia->carriers : own,
                                        (const struct sockaddr *)&ia->address,
                                        &c->member, &c->info, bytes);
    if (ret == DAT_SUCCESS)
        *out = (void *)(uintptr_t)c->info;
    core_ia_unlock(ia);
    return ret;
}

static DAT_RETURN free_member(struct core_ia *ia, va_list *args)
{
    struct core_collectives *c = ia->collectives;
    const void *info = va_arg(*args, DAT_IB_COLLECTIVE_MEMBER);
    core_ia_lock(ia);
    void *member = info && info == c->info ? c->member : NULL;
    if (member)
        c->member = NULL, c->info = NULL;
    core_ia_unlock(ia);
    if (!member)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!ia->forked)
        c->library->free_member(member);
    return DAT_SUCCESS;
}

/* --------------------------------------------------------------- groups --- */

static DAT_IB_EXT_TYPE event_type(DAT_IB_OP op)
{
    const struct core_collective *c = core_collective_of(op);
    return c ? c->event : DAT_IB_COLLECTIVE_CREATE_DATA;
}

/* A call is complete: any thread. */
static void done(void *owner, const struct dapl_collective_call *call, bool ok)
{
    struct core_group *g = owner;
    bool created = call->op == DAT_IB_COLLECTIVE_CREATE_GROUP_OP;
    if (ok && call->flags & DAT_COMPLETION_SUPPRESS_FLAG)
        return;
    DAT_EVENT event = {.event_number =
                           (DAT_EVENT_NUMBER)DAT_IB_COLLECTIVE_EVENT};
    DAT_IB_EXTENSION_EVENT_DATA *data = (void *)event.event_extension_data;
    _Static_assert(sizeof *data <= sizeof event.event_extension_data,
                   "as the header says");
    data->type = event_type(call->op);
    data->status = ok ? DAT_OP_SUCCESS : DAT_IB_COLL_COMP_ERR;
    data->coll.handle = created && !ok ? DAT_HANDLE_NULL : g;
    data->coll.context = data->context = call->context;
    if (created && !ok)
        atomic_store(&g->failed, true);
    core_evd_post(g->evd, &event,
                  !(call->flags & DAT_COMPLETION_UNSIGNALLED_FLAG));
}

/* ia->lock is held. */
static void group_destroy(void *object)
{
    struct core_group *g = object;
    core_unref(&g->evd->o);
    core_object_free(g);
}

/* Frees a group that is no longer listed. The library's part may take a while,
 * and its worker may open and close IAs. So ia->lock is not held: a thread that
 * forks takes the locks of all IAs, and keeps others from opening any. */
static void group_end(struct core_group *g)
{
    struct core_ia *ia = g->o.ia;
    if (!ia->forked)
        ia->collectives->library->free_group(g->tp);
    core_ia_lock(ia);
    group_destroy(g);
    core_ia_unlock(ia);
}

static void unlist(struct core_collectives *c, struct core_group **at)
{
    *at = (*at)->next;
    atomic_fetch_sub(&c->listed, 1);
}

static DAT_RETURN free_group(struct core_group *g)
{
    struct core_collectives *c = g->o.ia->collectives;
    core_lock_wanted(&c->lock, &c->wanted);
    struct core_group **at = &c->groups;
    while (*at && *at != g)
        at = &(*at)->next;
    if (*at)
        unlist(c, at);
    pthread_mutex_unlock(&c->lock);
    group_end(g);
    return DAT_SUCCESS;
}

static const struct core_kind group_kind = {
    .type = (DAT_HANDLE_TYPE)DAT_IB_HANDLE_TYPE_COLLECTIVE,
    .destroy = group_destroy};

/* Takes a group out of the list: any, or one whose creation has failed. */
static struct core_group *take_group(struct core_collectives *c, bool any)
{
    core_lock_wanted(&c->lock, &c->wanted);
    struct core_group **at = &c->groups, *g;
    while ((g = *at) && !any && !atomic_load(&g->failed))
        at = &g->next;
    if (g)
        unlist(c, at);
    pthread_mutex_unlock(&c->lock);
    return g;
}

void core_collectives_reap(struct core_ia *ia, bool all)
{
    struct core_group *g;
    int state = core_cancel_off();
    while (ia->collectives && (g = take_group(ia->collectives, all)))
        group_end(g);
    core_cancel_as(state);
}

/* ia->lock is held; and the lock of the list, which the consumer waits for if
 * it sees the event, and frees the group, before this ends. */
static DAT_RETURN group_new(struct core_evd *evd,
                            struct dapl_collective_group *how,
                            DAT_CONTEXT context)
{
    struct core_ia *ia = evd->o.ia;
    struct core_collectives *c = ia->collectives;
    if (!c->member)
        return CORE_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
    struct core_group *g = core_object_new(ia, &group_kind, sizeof *g);
    if (!g)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    g->evd = evd;
    g->size = how->size;
    g->self = how->self;
    core_ref(&evd->o);
    how->done = done;
    how->owner = g;
    how->context = context;
    DAT_RETURN ret = c->library->create_group(c->member, how, &g->tp);
    if (ret != DAT_SUCCESS) {
        group_destroy(g);
        return ret;
    }
    g->next = c->groups;
    c->groups = g;
    atomic_fetch_add(&c->listed, 1);
    return DAT_SUCCESS;
}

static DAT_RETURN create_group(DAT_EVD_HANDLE handle, va_list *args)
{
    struct core_evd *evd = core_evd_get(handle);
    struct dapl_collective_group how;
    how.members = va_arg(*args, void *);
    DAT_COUNT size = va_arg(*args, DAT_COUNT);
    how.self = va_arg(*args, DAT_IB_COLLECTIVE_RANK);
    how.id = va_arg(*args, DAT_IB_COLLECTIVE_ID);
    how.layout = va_arg(*args, DAT_IB_COLLECTIVE_GROUP *);
    struct core_pz *pz = core_pz_get(va_arg(*args, DAT_PZ_HANDLE));
    DAT_CONTEXT context = va_arg(*args, DAT_CONTEXT);
    if (!how.members)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (size < 1)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    for (DAT_COUNT i = 0; i < size; i++)
        if (!how.members[i])
            return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (how.self >= (unsigned)size)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (!pz || pz->o.ia != evd->o.ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    how.size = (unsigned)size;
    struct core_ia *ia = evd->o.ia;
    if (ia->forked)
        return CORE_FORKED;
    struct core_collectives *c = ia->collectives;
    core_collectives_reap(ia, false);
    core_lock_wanted(&c->lock, &c->wanted);
    core_ia_lock(ia);
    DAT_RETURN ret = group_new(evd, &how, context);
    core_ia_unlock(ia);
    pthread_mutex_unlock(&c->lock);
    return ret;
}

static DAT_RETURN start(struct core_group *g, DAT_IB_OP op, va_list *args)
{
    const struct core_collective *c = core_collective_of(op);
    struct dapl_collective_call call = {.op = op};
    if (!c || !core_collectives_has(g->o.ia, op))
        return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
    if (g->o.ia->forked)
        return CORE_FORKED;
    DAT_RETURN bad = c->arguments(g, args, &call);
    return bad == DAT_SUCCESS
               ? g->o.ia->collectives->library->start(g->tp, &call)
               : bad;
}

/* ------------------------------------------------------------- dispatch --- */

static DAT_RETURN of_ia(struct core_ia *ia, DAT_IB_OP op, va_list *args)
{
    if (!ia->collectives)
        return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
    if (op == DAT_IB_COLLECTIVE_FREE_MEMBER_OP)
        return free_member(ia, args);
    return ia->forked ? CORE_FORKED : create_member(ia, args);
}

static DAT_RETURN of_evd(struct core_evd *evd, va_list *args)
{
    return evd->o.ia->collectives ? create_group(evd, args)
                                  : CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

DAT_RETURN core_collectives_op(DAT_HANDLE handle, DAT_IB_OP op, va_list *args)
{
    if (op == DAT_IB_COLLECTIVE_CREATE_MEMBER_OP ||
        op == DAT_IB_COLLECTIVE_FREE_MEMBER_OP)
        return core_ia_get(handle) ? of_ia(handle, op, args)
                                   : core_bad_handle(DAT_HANDLE_TYPE_IA);
    if (op == DAT_IB_COLLECTIVE_CREATE_GROUP_OP)
        return core_evd_get(handle) ? of_evd(handle, args)
                                    : core_bad_handle(DAT_HANDLE_TYPE_EVD);
    struct core_group *g = core_object_get(handle, group_kind.type);
    if (!g)
        return core_bad_handle(group_kind.type);
    return op == DAT_IB_COLLECTIVE_FREE_GROUP_OP ? free_group(g)
                                                 : start(g, op, args);
}

/* ------------------------------------------------------------- progress --- */

/* The consumer may wait for any of the groups of this EVD: only if none of them
 * moves, the poll leaves its core to one that is at work. */
static void progress_groups(const struct core_collectives *c,
                            const struct core_evd *evd)
{
    bool moves = false;
    void *at_work = NULL;
    for (struct core_group *g = c->groups; g; g = g->next) {
        if (evd && g->evd != evd)
            continue;
        enum dapl_collective_state state = c->library->progress(g->tp);
        moves = moves || state == DAPL_COLLECTIVE_MOVING;
        if (state == DAPL_COLLECTIVE_AT_WORK)
            at_work = g->tp;
    }
    if (evd && at_work && !moves)
        c->library->leave_core(at_work);
}

static void rest_groups(const struct core_collectives *c,
                        const struct core_evd *evd)
{
    for (struct core_group *g = c->groups; g; g = g->next)
        if (!evd || g->evd == evd)
            c->library->rest(g->tp);
}

/* With the lock. A forked child shares memory with the ranks of its parent's
 * groups: it leaves them alone. */
static void with_groups(struct core_ia *ia, const struct core_evd *evd,
                        void (*act)(const struct core_collectives *,
                                    const struct core_evd *))
{
    struct core_collectives *c = ia->collectives;
    if (ia->forked || !atomic_load_explicit(&c->listed, memory_order_relaxed))
        return;
    int state = core_cancel_off();
    if (core_lock_to_poll(&c->lock, &c->wanted)) {
        act(c, evd);
        pthread_mutex_unlock(&c->lock);
    }
    core_cancel_as(state);
}

void core_collectives_poll(struct core_ia *ia, const struct core_evd *evd)
{
    with_groups(ia, evd, progress_groups);
}

void core_collectives_rest(struct core_ia *ia, const struct core_evd *evd)
{
    with_groups(ia, evd, rest_groups);
}
