/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who sleeps for what. A thread that goes to sleep takes one of the IA's bells
 * and leaves its bit wherever something that it waits for can turn up: in its
 * EVD (a CNO: in all EVDs that it serves), and, by the transport, in the
 * connections that feed it. So an event costs a system call only if somebody
 * sleeps for that EVD.
 *
 * A sleeper writes its bit and then looks once more at its EVD; who adds an
 * event writes it and then looks for bits (core/fence.h).
 */
#include "providers/core/internal.h"

static uint64_t ep_bells(const struct core_ep *ep)
{
    uint64_t bells = 0;
    if (ep->recv_evd)
        bells |= atomic_load(&ep->recv_evd->bells);
    if (ep->request_evd)
        bells |= atomic_load(&ep->request_evd->bells);
    return bells;
}

void core_ep_set_bells(struct core_ep *ep)
{
    const struct core_transport *t = ep->o.ia->transport;
    if (t->set_bells)
        t->set_bells(ep, ep_bells(ep));
}

/* ia->bell_lock is held. Peers that announce ring whoever sleeps. */
static void evd_update(struct core_evd *evd)
{
    struct core_cno *cno = atomic_load(&evd->cno);
    atomic_store(&evd->bells, evd->bell | (cno ? cno->bell : 0));
    struct core_ep *ep;
    for (unsigned at = 0;
         (ep = core_epset_next(core_polled(evd->o.ia, evd), &at));)
        core_ep_set_bells(ep);
}

void core_evd_bells(struct core_evd *evd)
{
    pthread_mutex_lock(&evd->o.ia->bell_lock);
    evd_update(evd);
    pthread_mutex_unlock(&evd->o.ia->bell_lock);
}

void core_ep_bells(struct core_ep *ep)
{
    pthread_mutex_lock(&ep->o.ia->bell_lock);
    core_ep_set_bells(ep);
    pthread_mutex_unlock(&ep->o.ia->bell_lock);
    /* a sleeper may have to look after one more */
    core_fence_light(core_fence_asymmetric);
    core_ring(ep->o.ia, UINT64_MAX);
}

void core_ep_ring(struct core_ep *ep)
{
    core_fence_light(core_fence_asymmetric);
    core_ring(ep->o.ia, ep_bells(ep));
}

struct core_evd *core_cno_next(const struct core_cno *cno,
                               const struct core_evd *evd)
{
    struct core_object *o = evd ? evd->o.next : cno->o.ia->objects;
    for (; o; o = o->next)
        if (o->type == DAT_HANDLE_TYPE_EVD &&
            atomic_load(&((struct core_evd *)o)->cno) == cno)
            return (struct core_evd *)o;
    return NULL;
}

static void waiter_update(struct core_waiter *w, uint64_t bell)
{
    struct core_ia *ia = w->ia;
    if (w->evd) {
        pthread_mutex_lock(&ia->bell_lock);
        w->evd->bell = bell;
        evd_update(w->evd);
        pthread_mutex_unlock(&ia->bell_lock);
        return;
    }
    core_ia_lock(ia); /* no EVD comes or goes */
    pthread_mutex_lock(&ia->bell_lock);
    w->cno->bell = bell;
    for (struct core_evd *evd = NULL; (evd = core_cno_next(w->cno, evd));)
        evd_update(evd);
    pthread_mutex_unlock(&ia->bell_lock);
    core_ia_unlock(ia);
}

bool core_bell_take(struct core_waiter *w)
{
    struct core_ia *ia = w->ia;
    pthread_mutex_lock(&ia->bell_lock);
    uint64_t taken = atomic_load(&ia->bells);
    uint64_t bell = ~taken & (taken + 1); /* the lowest that is free */
    atomic_fetch_or(&ia->bells, bell);    /* others are given back meanwhile */
    pthread_mutex_unlock(&ia->bell_lock);
    w->bell = bell;
    if (!bell)
        return false;
    ia->transport->arm(ia, bell);
    waiter_update(w, bell);
    core_fence_heavy(ia->transport->in_kernel);
    return true;
}

void core_bell_give(struct core_waiter *w)
{
    struct core_ia *ia = w->ia;
    if (!w->bell)
        return;
    waiter_update(w, 0);
    atomic_fetch_and(&ia->bells, ~w->bell);
    w->bell = 0;
}
