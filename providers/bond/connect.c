/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up and ending connections; ia->lock is held. A connection begins with
 * a link of the first member; the others join it (join.c).
 *
 *   active                             passive
 *   dat_ep_connect, hello -----------> CR event
 *   ESTABLISHED <--------------- hello dat_cr_accept
 *   ESTABLISHED, intro <-------> intro ESTABLISHED
 *   joins of the other members ------> accepted
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "dapl_rail/platform/busywait.h"

#include "bond.h"

#define NEVER     UINT64_MAX
#define SETTLE_NS BOND_MS /* between looks while it begins, ends or waits */
/* The wait for links to join before the consumer gets its event, and the wait
 * for BOND_BYE to arrive. */
#define JOIN_NS (200 * BOND_MS)
#define ASK_NS  (10 * BOND_MS) /* between two pings of a disconnecting side */

/* ------------------------------------------------------ birth and death --- */

static struct bond_conn *conn_new(struct bond_ia *b, enum bond_state state)
{
    struct bond_conn *c = calloc(1, sizeof *c);
    if (!c || getrandom(&c->token, sizeof c->token, 0) != sizeof c->token) {
        free(c);
        return NULL;
    }
    c->b = b;
    c->state = state;
    c->id = ++b->last_id;
    c->lead = BOND_FIRST_MEMBER;
    c->waiting_end = &c->waiting;
    for (unsigned i = BOND_OPS; i-- > 0;) {
        c->ops[i].conn = c;
        bond_op_free(&c->ops[i]);
    }
    c->next = b->conns;
    b->conns = c;
    return c;
}

void bond_conn_free(struct bond_conn *c)
{
    struct bond_ia *b = c->b;
    struct bond_conn **at = &b->conns;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    bond_deliver_end(c);
    bond_zone_put(b, c->zone);
    free(c);
}

/* The first link, of an EP that connects or accepts. */
static struct bond_link *attach(struct bond_conn *c, struct core_ep *ep)
{
    c->zone = ep->pz ? bond_zone_get(c->b, ep->pz->id) : NULL;
    struct bond_link *l =
        c->zone ? bond_link_new(c, BOND_FIRST_MEMBER, 1) : NULL;
    if (!l)
        return NULL;
    c->ep = ep;
    core_ep_lock(ep);
    c->next_body = c->next_lead = atomic_load(&ep->sq_tail);
    atomic_store(&ep->tp, c);
    core_ep_unlock(ep);
    c->state = BOND_CONNECTING;
    return l;
}

static void detach(struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i])
            bond_link_drop(c->link[i]);
    if (c->ep)
        atomic_store(&c->ep->tp, NULL);
    bond_conn_free(c);
}

static bool is_up(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i] && c->link[i]->state == BOND_LINK_UP)
            return true;
    return false;
}

/* ------------------------------------------------------------------ end --- */

static bool has_links(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i])
            return true;
    return false;
}

/* All links have ended: no member accesses the consumer's memory any more. */
static void finish(struct bond_conn *c)
{
    bond_deliver(c);
    bond_deliver_end(c);
    c->state = BOND_CLOSED;
    if (!c->ep)
        return;
    bond_requests_failed(c->ep);
    core_ep_disconnected(c->ep, c->event, c->event_data, c->event_size);
}

static void set_event(struct bond_conn *c, DAT_EVENT_NUMBER event,
                      const void *data, DAT_COUNT size)
{
    c->event = event;
    c->event_size = size;
    if (size)
        memcpy(c->event_data, data, (size_t)size);
}

static void conn_end(struct bond_conn *c, DAT_EVENT_NUMBER event,
                     const void *data, DAT_COUNT size)
{
    if (c->state >= BOND_LEAVING)
        return;
    c->state = BOND_LEAVING;
    set_event(c, event, data, size);
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i])
            bond_link_leave(c->link[i]);
    bond_thread_wake(c->b);
}

/* Over all links: some may be lost. */
static void say_to_all(struct bond_conn *c, enum bond_message_kind kind)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i])
            bond_say(c->link[i], kind, NULL, 0);
}

/* Disconnects at once. */
static void leave(struct bond_conn *c)
{
    if (c->state >= BOND_JOINING && c->state <= BOND_DRAINING)
        say_to_all(c, BOND_BYE);
    conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
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

void bond_ep_release(struct core_ep *ep)
{
    struct bond_conn *c = ep->tp;
    if (!c)
        return;
    pthread_mutex_lock(&c->b->lock);
    leave(c);
    bond_deliver_end(c);
    core_ep_lock(ep);
    atomic_store(&ep->tp, NULL);
    core_ep_unlock(ep);
    c->ep = NULL;
    bond_thread_wake(c->b);
    pthread_mutex_unlock(&c->b->lock);
}

void bond_abort(struct core_ep *ep)
{
    struct bond_conn *c = ep->tp;
    if (c && !atomic_exchange(&c->aborted, true))
        bond_thread_wake(c->b);
}

/* --------------------------------------------------------- active side --- */

DAT_RETURN bond_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                        const void *private_data)
{
    struct bond_ia *b = bond_ia(ep->o.ia);
    struct sockaddr_storage to = core_ep_remote(ep);
    struct bond_said said;
    DAT_COUNT bytes =
        bond_hello_say(b, BOND_FIRST, 0, 1, size, private_data, &said);
    DAT_RETURN ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    pthread_mutex_lock(&b->lock);
    struct bond_conn *c = conn_new(b, BOND_CONNECTING);
    struct bond_link *l = c && !bond_threads_start(b) ? attach(c, ep) : NULL;
    if (l) {
        c->active = true;
        ret = dat_ep_connect(l->ep, (DAT_IA_ADDRESS_PTR)&to, ep->remote_qual,
                             timeout_us > UINT32_MAX ? DAT_TIMEOUT_INFINITE
                                                     : (DAT_TIMEOUT)timeout_us,
                             bytes, &said, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG);
    }
    if (ret != DAT_SUCCESS && c)
        detach(c);
    pthread_mutex_unlock(&b->lock);
    return ret;
}

/* -------------------------------------------------------- passive side --- */

DAT_RETURN bond_listen(struct core_sp *sp)
{
    struct bond_ia *b = bond_ia(sp->o.ia);
    struct bond_member *first = &b->member[BOND_FIRST_MEMBER];
    struct bond_listener *s = calloc(1, sizeof *s);
    DAT_RETURN ret =
        CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    if (!s)
        return ret;
    pthread_mutex_lock(&b->lock);
    s->sp = sp;
    if (!bond_threads_start(b))
        ret = bond_members_listen(b);
    if (ret == DAT_SUCCESS)
        ret = dat_psp_create(first->ia, sp->qual, first->conn,
                             DAT_PSP_CONSUMER_FLAG, &s->psp);
    if (ret == DAT_SUCCESS) {
        s->next = b->listeners;
        b->listeners = sp->tp = s;
    } else {
        free(s);
    }
    pthread_mutex_unlock(&b->lock);
    return ret;
}

void bond_unlisten(struct core_sp *sp)
{
    struct bond_ia *b = bond_ia(sp->o.ia);
    struct bond_listener *s = sp->tp, **at = &b->listeners;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    dat_psp_free(s->psp);
    free(s);
}

static void refuse(struct bond_ia *b, DAT_CR_HANDLE cr, DAT_COUNT size,
                   const void *data)
{
    struct bond_said said;
    DAT_COUNT bytes = bond_hello_say(b, BOND_FIRST, 0, 0, size, data, &said);
    dat_cr_reject(cr, bytes, &said);
}

static void say_different(const struct bond_ia *b)
{
    fprintf(stderr,
            "dapl bond: rail %s: the bond of the peer has other members\n",
            b->ia->name);
}

static bool offer(struct bond_ia *b, struct core_sp *sp,
                  const DAT_CR_PARAM *param, DAT_CR_HANDLE cr,
                  const struct bond_said *said)
{
    struct sockaddr_storage from = {0};
    struct bond_conn *c = conn_new(b, BOND_OFFERED);
    if (!c)
        return false;
    bond_address_copy(&from, param->remote_ia_address_ptr);
    c->offered = cr;
    if (!core_cr_arrived(sp, c, &from, param->remote_port_qual, said->data,
                         said->hello.size))
        return true;
    bond_conn_free(c);
    return false;
}

static struct core_sp *find_sp(const struct bond_ia *b, DAT_PSP_HANDLE psp)
{
    struct bond_listener *s = b->listeners;
    while (s && s->psp != psp)
        s = s->next;
    return s ? s->sp : NULL;
}

void bond_on_request(struct bond_member *m, const DAT_CR_ARRIVAL_EVENT_DATA *d)
{
    struct bond_ia *b = m->b;
    struct core_sp *sp = find_sp(b, d->sp_handle.psp_handle);
    DAT_CR_PARAM param = {0};
    struct bond_said said;
    if (dat_cr_query(d->cr_handle, DAT_CR_FIELD_ALL, &param) ||
        !bond_hello_read(param.private_data, param.private_data_size, &said)) {
        refuse(b, d->cr_handle, 0, NULL);
    } else if (said.hello.kind == BOND_JOIN) {
        bond_on_join_request(m, d->cr_handle, &said);
    } else if (said.hello.members != b->hash) {
        say_different(b);
        refuse(b, d->cr_handle, 0, NULL);
    } else if (!sp || !offer(b, sp, &param, d->cr_handle, &said)) {
        refuse(b, d->cr_handle, 0, NULL);
    }
}

DAT_RETURN bond_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                       const void *private_data)
{
    struct bond_conn *c = cr->tp;
    struct bond_ia *b = c->b;
    struct bond_said said;
    DAT_COUNT bytes =
        bond_hello_say(b, BOND_FIRST, 0, 1, size, private_data, &said);
    DAT_RETURN ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    pthread_mutex_lock(&b->lock);
    struct bond_link *l = attach(c, ep);
    if (l)
        ret = dat_cr_accept(c->offered, l->ep, bytes, &said);
    if (ret != DAT_SUCCESS) { /* it can still be rejected */
        atomic_store(&ep->tp, NULL);
        c->ep = NULL;
        c->state = BOND_OFFERED;
        if (l)
            bond_link_drop(l);
        bond_zone_put(b, c->zone);
        c->zone = NULL;
    }
    pthread_mutex_unlock(&b->lock);
    return ret;
}

void bond_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data)
{
    struct bond_conn *c = cr->tp;
    struct bond_ia *b = c->b;
    pthread_mutex_lock(&b->lock);
    refuse(b, c->offered, size, private_data);
    bond_conn_free(c);
    pthread_mutex_unlock(&b->lock);
}

/* -------------------------------------------------------------- events --- */

/* The first link could not be set up. */
static void refused(struct bond_conn *c, DAT_EVENT_NUMBER event,
                    const struct bond_said *said, bool spoke)
{
    bool different = spoke && said->hello.members != c->b->hash;
    if (different)
        say_different(c->b);
    if (event == DAT_CONNECTION_EVENT_PEER_REJECTED && !different && spoke)
        conn_end(c, event, said->data, said->hello.size);
    else if (event == DAT_CONNECTION_EVENT_PEER_REJECTED)
        conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
    else
        conn_end(c, event, NULL, 0);
}

static void say_no_bond(const struct bond_ia *b)
{
    fprintf(stderr, "dapl bond: rail %s: the peer is no bond\n", b->ia->name);
}

/* The peer has accepted, but it is no bond, or a bond of other members. */
static void reject(struct bond_link *l, const struct bond_said *said,
                   bool spoke)
{
    struct bond_conn *c = l->conn;
    if (!spoke)
        say_no_bond(c->b);
    bond_link_leave(l);
    if (c->state == BOND_CONNECTING)
        refused(c, DAT_CONNECTION_EVENT_PEER_REJECTED, said, spoke);
    else
        bond_join_failed(c, l->m->index, spoke);
}

static void established(struct bond_link *l, const struct bond_said *said)
{
    struct bond_conn *c = l->conn;
    l->state = BOND_LINK_UP;
    c->path[l->m->index].joined = true;
    bond_intro_send(l);
    if (c->state != BOND_CONNECTING || !c->ep)
        return;
    c->state = BOND_JOINING;
    c->join_until = busywait_now_ns() + (c->active ? JOIN_NS : 2 * JOIN_NS);
    set_event(c, DAT_CONNECTION_EVENT_ESTABLISHED, said->data,
              c->active ? said->hello.size : 0);
}

/* Gives the consumer its event when all links have joined that can. */
static void look_joining(struct bond_conn *c, uint64_t now)
{
    if (!bond_join_complete(c) && is_up(c) && !c->bye && now < c->join_until)
        return;
    if (c->active)
        say_to_all(c, BOND_READY);
    if (core_ep_poll(c->ep)) {
        conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
        return;
    }
    c->state = BOND_CONNECTED;
    core_ep_established(c->ep, c->event_data, c->event_size);
    bond_deliver(c);
    bond_issue(c);
}

void bond_on_connection(struct bond_member *m, DAT_EVENT_NUMBER event,
                        const DAT_CONNECTION_EVENT_DATA *d)
{
    struct bond_link *l = bond_link_find(m, d->ep_handle);
    struct bond_said said = {0};
    if (!l)
        return;
    struct bond_conn *c = l->conn;
    bool spoke = bond_hello_read(d->private_data, d->private_data_size, &said);
    if (event == DAT_CONNECTION_EVENT_ESTABLISHED) {
        if (l->state != BOND_LINK_CONNECTING)
            return;
        if (c->active && (!spoke || said.hello.members != c->b->hash))
            reject(l, &said, spoke);
        else
            established(l, &said);
        return;
    }
    bool began = l->state == BOND_LINK_CONNECTING;
    l->state = BOND_LINK_LEAVING;
    l->ended = true;
    if (began && c->state == BOND_CONNECTING)
        refused(c, event, &said, spoke);
    else if (began)
        bond_join_failed(c, m->index, spoke);
}

/* -------------------------------------------------------- what is due --- */

static void reap_links(struct bond_conn *c, uint64_t now)
{
    for (unsigned i = 0; i < c->b->params.count; i++) {
        struct bond_link *l = c->link[i];
        if (l && l->ended && l->posted)
            bond_drain(l->m);
        if (!l || !bond_link_over(l, now))
            continue;
        bond_path_ended(l);
        bond_link_drop(l);
    }
}

/* Are all requests complete, and all messages delivered? A message without a
 * completion event is complete before the peer has it. */
static bool is_drained(const struct bond_conn *c)
{
    return !core_requests_pending(c->ep) && c->peer_delivered == c->next_number;
}

/* Pings the peer: its answer tells how many messages it has delivered. */
static void ask_delivered(struct bond_conn *c, uint64_t now)
{
    struct bond_link *l = bond_usable_link(c, c->lead);
    if (l && c->peer_delivered != c->next_number && now >= c->ask_at &&
        bond_say(l, BOND_PING, NULL, 0))
        c->ask_at = now + ASK_NS;
}

/* Tells the peer of the end. Ends the links when that message is complete. */
static void look_draining(struct bond_conn *c, uint64_t now)
{
    if (!c->bye_until) {
        say_to_all(c, BOND_BYE);
        c->bye_until = now + JOIN_NS;
    }
    if (c->free_count == BOND_OPS || now >= c->bye_until)
        conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
}

static void look_connected(struct bond_conn *c, uint64_t now)
{
    if (atomic_load(&c->aborted)) {
        conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
    } else if (c->bye) {
        conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
    } else if (c->state == BOND_DRAINING && is_drained(c)) {
        look_draining(c, now);
    } else if (!is_up(c)) { /* no member is left */
        conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
    } else {
        if (c->state == BOND_DRAINING)
            ask_delivered(c, now);
        bond_failover_look(c, now);
    }
}

uint64_t bond_conn_look(struct bond_conn *c, uint64_t now)
{
    reap_links(c, now);
    if (c->state == BOND_JOINING)
        look_joining(c, now);
    if (c->state == BOND_CONNECTED || c->state == BOND_DRAINING)
        look_connected(c, now);
    if (c->state == BOND_LEAVING) {
        reap_links(c, now);
        if (!has_links(c))
            finish(c);
    }
    if (c->state == BOND_CLOSED && !c->ep) {
        bond_conn_free(c);
        return NEVER;
    }
    if (c->state == BOND_CLOSED || c->state == BOND_OFFERED)
        return NEVER;
    bool joins = c->state == BOND_JOINING || c->state == BOND_CONNECTED;
    uint64_t next = joins ? bond_join_look(c, now) : 0;
    bool soon = c->state != BOND_CONNECTED || bond_waits(c);
    return soon ? now + SETTLE_NS : next;
}
