/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting up connections, by messages that take one latency each. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define US 1e-6

/* A message on its way to one end, which it keeps alive, from the other end. */
struct message {
    struct sim_conn *to;
    struct sim_conn *from;
    struct sockaddr_storage address; /* address of a request */
    DAT_CONN_QUAL qual;
    DAT_EVENT_NUMBER event; /* reason of a refusal */
    DAT_COUNT size;
    unsigned char data[CORE_MAX_PRIVATE_DATA];
};

static struct message *message_new(struct sim_conn *to, struct sim_conn *from,
                                   DAT_COUNT size, const void *data)
{
    struct message *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->to = to;
    m->from = from;
    m->size = size;
    if (size)
        memcpy(m->data, data, (size_t)size);
    if (to)
        sim_conn_hold(to);
    if (from)
        sim_conn_hold(from);
    return m;
}

static void message_free(struct message *m)
{
    if (m->to)
        sim_conn_drop(m->to);
    if (m->from)
        sim_conn_drop(m->from);
    free(m);
}

static void message_send(struct message *m, double latency_s,
                         void (*arrived)(void *))
{
    sim_after(latency_s, arrived, m);
}

/* --------------------------------------------------------- the active side */

static void refused(void *arg)
{
    struct message *m = arg;
    struct sim_conn *c = m->to;
    if (!c->ended) {
        core_ia_lock(c->ia->ia);
        c->ended = true;
        core_ep_disconnected(c->ep, m->event, m->data, m->size);
        core_ia_unlock(c->ia->ia);
        sim_ia_notify(c->ia);
    }
    message_free(m);
}

static void refuse(struct sim_conn *c, double latency_s, DAT_EVENT_NUMBER event,
                   DAT_COUNT size, const void *data)
{
    struct message *m = message_new(c, NULL, size, data);
    if (!m)
        return; /* the attempt has timed out */
    m->event = event;
    message_send(m, latency_s, refused);
}

static void timed_out(void *arg)
{
    struct message *m = arg;
    if (m->to->peer)
        message_free(m); /* connected now, or before */
    else
        refused(m);
}

/* ------------------------------------------------------------- established */

/* From now on the EP receives what is sent to it. */
static void established(struct sim_conn *c, DAT_COUNT size, const void *data)
{
    core_ia_lock(c->ia->ia);
    if (core_ep_poll(c->ep))
        sim_abort(c->ep);
    core_ep_established(c->ep, data, size);
    core_ia_unlock(c->ia->ia);
    sim_ia_notify(c->ia);
    sim_land(c->peer);
}

static void confirmed(void *arg)
{
    struct message *m = arg;
    if (!m->to->ended)
        established(m->to, 0, NULL);
    message_free(m);
}

static void accepted(void *arg)
{
    struct message *m = arg;
    struct sim_conn *c = m->to, *passive = m->from;
    if (c->ended) { /* the active side has given up */
        if (!passive->ended) {
            core_ia_lock(passive->ia->ia);
            sim_conn_end(passive, DAT_CONNECTION_EVENT_DISCONNECTED);
            core_ia_unlock(passive->ia->ia);
        }
        message_free(m);
        return;
    }
    c->peer = passive;
    sim_conn_hold(passive);
    established(c, m->size, m->data);
    m->to = passive;
    m->from = c;
    message_send(m, c->ia->rail->latency, confirmed);
}

/* -------------------------------------------------------- the passive side */

static int request_take(struct core_sp *sp, const struct message *m)
{
    struct core_ia *ia = sp->o.ia;
    core_ia_lock(ia);
    sim_conn_hold(m->from);
    int rc = core_cr_arrived(sp, m->from, &m->from->ia->ia->address, 0, m->data,
                             m->size);
    if (rc)
        sim_conn_drop(m->from);
    core_ia_unlock(ia);
    return rc;
}

static void request_arrived(void *arg)
{
    struct message *m = arg;
    struct core_sp *sp =
        m->from->ended ? NULL : sim_listener(&m->address, m->qual);
    struct sim_ia *ia = sp ? sim_ia(sp->o.ia) : NULL;
    if (sp && !request_take(sp, m)) /* an RSP ends with its first request */
        sim_ia_notify(ia);
    else if (!m->from->ended)
        refuse(m->from, m->from->ia->rail->latency,
               DAT_CONNECTION_EVENT_NON_PEER_REJECTED, 0, NULL);
    message_free(m);
}

/* ---------------------------------------------------------- for core's use */

DAT_RETURN sim_listen(struct core_sp *sp)
{
    struct sim_ia *ia = sim_ia(sp->o.ia);
    if (sim_listener(&ia->ia->address, sp->qual))
        return CORE_ERROR(DAT_CONN_QUAL_IN_USE, 0);
    sp->tp = ia->listeners;
    ia->listeners = sp;
    return DAT_SUCCESS;
}

void sim_unlisten(struct core_sp *sp)
{
    struct sim_ia *ia = sim_ia(sp->o.ia);
    void **at = (void **)&ia->listeners;
    while (*at != sp)
        at = &((struct core_sp *)*at)->tp;
    *at = sp->tp;
}

static DAT_RETURN out_of_memory(void)
{
    return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
}

DAT_RETURN sim_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                       const void *private_data)
{
    struct sim_conn *c = sim_conn_new(ep, NULL);
    if (!c)
        return out_of_memory();
    struct message *m = message_new(NULL, c, size, private_data);
    struct message *late = message_new(c, NULL, 0, NULL);
    if (!m || !late) {
        if (m)
            message_free(m);
        if (late)
            message_free(late);
        sim_ep_release(ep);
        return out_of_memory();
    }
    m->address = core_ep_remote(ep);
    m->qual = ep->remote_qual;
    message_send(m, c->ia->rail->latency, request_arrived);
    late->event = DAT_CONNECTION_EVENT_TIMED_OUT;
    if (timeout_us != UINT64_MAX)
        message_send(late, (double)timeout_us * US, timed_out);
    else
        message_free(late);
    return DAT_SUCCESS;
}

DAT_RETURN sim_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                      const void *private_data)
{
    struct sim_conn *active = cr->tp;
    struct sim_conn *c = sim_conn_new(ep, active);
    struct message *m = c ? message_new(active, c, size, private_data) : NULL;
    if (!m) {
        if (c)
            sim_ep_release(ep);
        return out_of_memory();
    }
    message_send(m, c->ia->rail->latency, accepted);
    sim_conn_drop(active); /* the connection's now */
    cr->tp = NULL;
    return DAT_SUCCESS;
}

void sim_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data)
{
    struct sim_conn *active = cr->tp;
    if (!active) /* accepted */
        return;
    refuse(active, sim_ia(cr->o.ia)->rail->latency,
           DAT_CONNECTION_EVENT_PEER_REJECTED, size, private_data);
    sim_conn_drop(active);
}
