/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread inside cannot be cancelled: other threads, and through locks other
 * ranks, would wait for it for ever. */
#include "dsm/base/enter.h"

/* Its address identifies the thread. */
static _Thread_local char me;

bool space_is_inside(ddsm_t *d)
{
    return atomic_load_explicit(&d->holder, memory_order_relaxed) ==
           (uintptr_t)&me;
}

static void hold(ddsm_t *d)
{
    atomic_store_explicit(&d->holder, (uintptr_t)&me, memory_order_relaxed);
}

static void let_go(ddsm_t *d)
{
    atomic_store_explicit(&d->holder, 0, memory_order_relaxed);
    pthread_mutex_unlock(&d->mutex);
}

int space_enter(ddsm_t *d)
{
    int cancel;
    if (space_is_inside(d))
        return space_fail(d, DRAIL_EINVAL,
                          "this thread is in a call already, or between "
                          "ddsm_rails_take and ddsm_rails_give");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_mutex_lock(&d->mutex);
    hold(d);
    d->cancel = cancel;
    return 0;
}

void space_leave(ddsm_t *d)
{
    const int cancel = d->cancel;
    let_go(d);
    pthread_setcancelstate(cancel, NULL);
}

void space_step_out(ddsm_t *d, void (*meanwhile)(void *arg), void *arg)
{
    const int cancel = d->cancel;
    let_go(d);
    meanwhile(arg);
    pthread_mutex_lock(&d->mutex);
    hold(d);
    d->cancel = cancel;
}

bool space_guard_enter(void *context)
{
    ddsm_t *d = context;
    const bool nested = space_is_inside(d);
    int cancel;
    if (!nested) {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
        if (pthread_mutex_trylock(&d->mutex)) {
            pthread_setcancelstate(cancel, NULL);
            return false;
        }
        hold(d);
        d->cancel = cancel;
    }
    d->guard_nested = nested;
    return true;
}

void space_guard_leave(void *context)
{
    ddsm_t *d = context;
    const bool nested = d->guard_nested;
    d->guard_nested = false;
    if (!nested)
        space_leave(d);
}
