/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which connected EPs a poll looks at. It looks at a few each time, which costs
 * their peers nothing. If the transport can do it, the peers of all other EPs
 * announce their messages, which costs them some atomic operations. So a poll
 * takes as long with a thousand connections as with a few. An EP whose peer has
 * announced often takes the place of one that has received nothing meanwhile.
 */
#include "providers/core/internal.h"

#define POLLED_MAX 8u /* EPs of an IA that each poll looks at */
#define SOME       4u /* others, which have not announced anything */

static void unpoll(struct core_ep *ep)
{
    core_epset_remove(&ep->o.ia->polled, ep);
    if (ep->recv_evd)
        core_epset_remove(&ep->recv_evd->polled, ep);
    if (ep->request_evd)
        core_epset_remove(&ep->request_evd->polled, ep);
}

static int add(struct core_epset *ias, struct core_epset *recvs,
               struct core_epset *requests, struct core_ep *ep)
{
    int err = core_epset_add(ias, ep);
    if (!err && recvs)
        err = core_epset_add(recvs, ep);
    if (!err && requests && requests != recvs)
        err = core_epset_add(requests, ep);
    return err;
}

static int poll_each_time(struct core_ep *ep)
{
    struct core_evd *recv = ep->recv_evd, *request = ep->request_evd;
    ep->announced = false;
    int err = add(&ep->o.ia->polled, recv ? &recv->polled : NULL,
                  request ? &request->polled : NULL, ep);
    if (err)
        unpoll(ep);
    return err;
}

static bool is_full(const struct core_ia *ia)
{
    return atomic_load(&ia->polled.count) >= POLLED_MAX;
}

/* bell_lock: all EPs in the sets are alive while it is held */
static void leave(struct core_ep *ep)
{
    core_epset_remove(&ep->o.ia->eps, ep);
    if (ep->recv_evd)
        core_epset_remove(&ep->recv_evd->eps, ep);
    if (ep->request_evd)
        core_epset_remove(&ep->request_evd->eps, ep);
}

int core_ep_poll(struct core_ep *ep)
{
    struct core_ia *ia = ep->o.ia;
    const struct core_transport *t = ia->transport;
    struct core_evd *recv = ep->recv_evd, *request = ep->request_evd;
    pthread_mutex_lock(&ia->bell_lock);
    int err = add(&ia->eps, recv ? &recv->eps : NULL,
                  request ? &request->eps : NULL, ep);
    ep->announced = !err && t->announce && is_full(ia) && t->announce(ep, true);
    if (!err && t->announce && !ep->announced)
        err = poll_each_time(ep);
    if (err)
        leave(ep);
    pthread_mutex_unlock(&ia->bell_lock);
    if (!err)
        core_ep_bells(ep);
    return err;
}

void core_ep_unpoll(struct core_ep *ep)
{
    const struct core_transport *t = ep->o.ia->transport;
    pthread_mutex_lock(&ep->o.ia->bell_lock);
    leave(ep);
    if (t->announce)
        unpoll(ep);
    if (ep->announced)
        t->announce(ep, false);
    ep->announced = false;
    pthread_mutex_unlock(&ep->o.ia->bell_lock);
}

/* EPs that have received nothing since the last time make room. */
static bool make_room(struct core_ia *ia)
{
    struct core_ep *ep;
    for (unsigned at = 0; (ep = core_epset_next(&ia->polled, &at));) {
        if (atomic_exchange(&ep->received, false) ||
            !ia->transport->announce(ep, true))
            continue;
        ep->announced = true;
        unpoll(ep);
    }
    return !is_full(ia);
}

void core_poll_often(struct core_ia *ia, _Atomic(struct core_ep *) *here)
{
    if (pthread_mutex_trylock(&ia->bell_lock))
        return;
    struct core_ep *ep = atomic_load(here);
    /* in this order: the peer rings sleepers itself when it no longer announces
     */
    if (ep && (!is_full(ia) || make_room(ia)) && !poll_each_time(ep)) {
        core_ep_set_bells(ep);
        ia->transport->announce(ep, false);
    }
    pthread_mutex_unlock(&ia->bell_lock);
}

/* ---------------------------------------------------------- progress --- */

void core_progress(struct core_ia *ia, struct core_ep *ep, bool sure)
{
    const struct core_transport *t = ia->transport;
    if (t->ia_progress)
        t->ia_progress(ia, sure);
    else
        t->progress(ep, sure);
}

void core_poll(struct core_ia *ia, struct core_evd *evd, bool sure)
{
    const struct core_transport *t = ia->transport;
    if (ia->collectives)
        core_collectives_poll(ia, evd);
    if (t->ia_progress) {
        t->ia_progress(ia, sure);
        return;
    }
    /* every poll comes here: look up the array only once */
    struct core_ep_array *a =
        atomic_load_explicit(&core_polled(ia, evd)->now, memory_order_acquire);
    unsigned n = a ? atomic_load_explicit(&a->n, memory_order_acquire) : 0;
    for (unsigned i = 0; i < n; i++) {
        struct core_ep *ep =
            atomic_load_explicit(&a->ep[i], memory_order_acquire);
        if (ep)
            t->progress(ep, sure);
    }
    if (ia->announced_words &&
        atomic_load_explicit(ia->announced_words, memory_order_relaxed))
        t->announced(ia, sure);
}

void core_poll_some(struct core_ia *ia, bool sure)
{
    unsigned at = atomic_load(&ia->round);
    for (unsigned i = 0; ia->transport->announce && i < SOME; i++) {
        struct core_ep *ep = core_epset_next(&ia->eps, &at);
        if (ep)
            core_progress(ia, ep, sure);
        else
            at = 0;
    }
    atomic_store(&ia->round, at);
}
