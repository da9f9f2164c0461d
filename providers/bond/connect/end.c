/* SPDX-License-Identifier: BSD-3-Clause */
/* Ending connections. */
#include "providers/bond/connect/connect.h"
#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"
#include "providers/bond/message/message.h"

void bond_conn_set_event(struct bond_conn *c, DAT_EVENT_NUMBER event,
                         const void *data, DAT_COUNT size)
{
    c->event = event;
    c->event_size = size;
    if (size)
        memcpy(c->event_data, data, (size_t)size);
}

void bond_conn_end(struct bond_conn *c, DAT_EVENT_NUMBER event,
                   const void *data, DAT_COUNT size)
{
    if (c->state >= BOND_LEAVING)
        return;
    c->state = BOND_LEAVING;
    bond_conn_set_event(c, event, data, size);
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i])
            bond_link_leave(c->link[i]);
    bond_thread_wake(c->b);
}

/* All links have ended: no member accesses the consumer's memory any more. */
void bond_conn_finish(struct bond_conn *c)
{
    bond_deliver(c);
    bond_deliver_end(c);
    c->state = BOND_CLOSED;
    if (!c->ep)
        return;
    bond_requests_failed(c->ep);
    core_ep_disconnected(c->ep, c->event, c->event_data, c->event_size);
}

/* Over all links: some may be lost. */
void bond_say_to_all(struct bond_conn *c, enum bond_message_kind kind)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i])
            bond_say(c->link[i], kind, NULL, 0);
}

/* Disconnects at once. */
static void leave(struct bond_conn *c)
{
    if (c->state >= BOND_JOINING && c->state <= BOND_DRAINING)
        bond_say_to_all(c, BOND_BYE);
    bond_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
}

void bond_disconnect(struct core_ep *ep, bool graceful)
{
    struct bond_conn *c = ep->tp;
    struct bond_ia *b = c->b;
    pthread_mutex_lock(&b->lock);
    bool drains = c->state == BOND_CONNECTED || c->state == BOND_DRAINING;
    if (drains && graceful) {
        atomic_store(&ep->state, DAT_EP_STATE_DISCONNECT_PENDING);
        c->state = BOND_DRAINING;
        bond_thread_wake(b);
    } else {
        leave(c);
    }
    pthread_mutex_unlock(&b->lock);
}

/* May the peer still be in an access of this end's memory? (Queue pairs of
 * verbs end theirs at once.) */
static bool is_accessed(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++) {
        const struct bond_link *l = c->link[i];
        if (l && l->m->own && bond_is_disconnecting(l->ep))
            return true;
    }
    return false;
}

/* The consumer may use its memory for something else after this, so it waits
 * for an access, but not with a lock held. */
void bond_ep_release(struct core_ep *ep)
{
    struct bond_conn *c = ep->tp;
    if (!c)
        return;
    struct bond_ia *b = c->b;
    pthread_mutex_lock(&b->lock);
    leave(c);
    bond_deliver_end(c);
    core_ep_lock(ep);
    atomic_store(&ep->tp, NULL);
    core_ep_unlock(ep);
    c->ep = NULL;
    for (c->held = true; is_accessed(c);) {
        pthread_mutex_unlock(&b->lock);
        core_ia_nap(b->ia);
        pthread_mutex_lock(&b->lock);
    }
    c->held = false;
    bond_thread_wake(b);
    pthread_mutex_unlock(&b->lock);
}

void bond_abort(struct core_ep *ep)
{
    struct bond_conn *c = ep->tp;
    if (c && !atomic_exchange(&c->aborted, true))
        bond_thread_wake(c->b);
}
