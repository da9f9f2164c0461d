/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of a connection: whatever arrived, and what waits for the peer. */
#include "providers/shm/shm.h"
#include "providers/shm/memory/peer.h"
#include "providers/shm/message/data.h"
#include "providers/shm/message/due.h"
#include "providers/shm/message/ring.h"

/* ep->lock is held. If not sure, stops once this thread's dat_evd_dequeue has
 * its event. Then the next dat_evd_dequeue gets the next message as directly.
 */
static void move(struct core_ep *ep, bool sure)
{
    struct shm_conn *c = ep->tp;
    DAT_EP_STATE state = core_ep_state(ep);
    bool any = false;
    if (!c || (state != DAT_EP_STATE_CONNECTED &&
               state != DAT_EP_STATE_DISCONNECT_PENDING))
        return;
    while (shm_receive(c)) {
        any = true;
        if (!sure && core_recv_served(ep))
            break;
    }
    if (core_requests_pending(ep))
        shm_requests_advance(c);
    if (any)
        shm_notify_sender(c);
}

/* Is there anything to move? A hint: ep->lock is not held. */
static inline bool is_anything(struct core_ep *ep)
{
    struct shm_conn *c = ep->tp;
    const struct shm_msg *m = c ? shm_rx_next(c) : NULL;
    return (m && shm_is_due(c, m)) || (c && core_requests_pending(ep));
}

void shm_progress(struct core_ep *ep, bool sure)
{
    if (!sure) {
        if (!is_anything(ep) || !core_ep_trylock(ep))
            return;
    } else {
        core_ep_lock(ep);
        struct shm_conn *c = ep->tp;
        if (c && c->peer)
            shm_peer_drop_stale(c->peer);
    }
    move(ep, sure);
    core_ep_unlock(ep);
}

uint64_t shm_next_due(struct core_ep *ep, uint64_t seen)
{
    uint64_t next = UINT64_MAX;
    core_ep_lock(ep);
    struct shm_conn *c = ep->tp;
    if (c && c->segment && c->sia->clocks) {
        uint64_t head = atomic_load(&ep->sq_head);
        if (core_requests_pending(ep)) {
            const struct core_request *r = core_request_at(ep, head);
            const struct shm_request *p = (const void *)r->tp;
            if (!r->done && p->due > seen)
                next = p->due;
        }
        const struct shm_msg *m = shm_rx_next(c);
        if (m && shm_due(c, m) > seen && shm_due(c, m) < next)
            next = shm_due(c, m);
    }
    core_ep_unlock(ep);
    return next;
}

uint64_t shm_arriving(struct core_ep *ep)
{
    core_ep_lock(ep);
    struct shm_conn *c = ep->tp;
    const struct shm_msg *m = shm_rx_next(c);
    uint64_t due = m && !shm_is_due(c, m) ? shm_due(c, m) : 0;
    core_ep_unlock(ep);
    return due;
}
