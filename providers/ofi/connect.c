/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up connections; everything is under ia->lock. A connection qualifier
 * is a port of the interface's address, by its low 16 bits, as other providers
 * have it that know ports.
 *
 *   active                           passive
 *   fi_connect, hello -------------> FI_CONNREQ: CR event
 *   FI_CONNECTED <------------ hello fi_accept, at dat_cr_accept
 *   ESTABLISHED, OFI_CONFIRM ------> ESTABLISHED
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ofi.h"

#define HANDSHAKE_NS 10000000000u /* for the peer to confirm */
/* A request that is under way when its service point ends is read by
 * libfabric's tcp with the listener's description: the listener is retired, and
 * closed so much later. */
#define RETIRED_NS  100000000u
#define END_TRIES   8 /* libfabric sees 1024 of them at once */
#define CM_DATA_MAX (sizeof(struct ofi_hello) + CORE_MAX_PRIVATE_DATA)

/* --------------------------------------------------------------- hello --- */

static size_t say_hello(const struct ofi_conn *c, const struct ofi_ia *oia,
                        DAT_COUNT size, const void *private_data,
                        unsigned char out[CM_DATA_MAX])
{
    struct ofi_hello h = {
        .magic = OFI_MAGIC,
        .version = OFI_VERSION,
        .size = htons((uint16_t)size),
        .id = htonl(c ? c->id : 0),
        .control = htobe64((uintptr_t)&oia->control_word),
    };
    memcpy(out, &h, sizeof h);
    if (size)
        memcpy(out + sizeof h, private_data, (size_t)size);
    return sizeof h + (size_t)size;
}

/* Checks what a peer has sent; returns its private data, or NULL. */
static const unsigned char *read_hello(struct ofi_conn *c, const void *data,
                                       size_t bytes, DAT_COUNT *size)
{
    struct ofi_hello h;
    if (bytes < sizeof h)
        return NULL;
    memcpy(&h, data, sizeof h);
    *size = ntohs(h.size);
    if (h.magic != OFI_MAGIC || h.version != OFI_VERSION ||
        (size_t)*size > bytes - sizeof h || *size > CORE_MAX_PRIVATE_DATA)
        return NULL;
    if (c) {
        c->peer_id = ntohl(h.id);
        c->peer_control = be64toh(h.control);
    }
    return (const unsigned char *)data + sizeof h;
}

/* ---------------------------------------------------------- active side --- */

static uint16_t port_of(DAT_CONN_QUAL qual)
{
    return (uint16_t)qual;
}

static void set_port(struct sockaddr_storage *a, uint16_t port)
{
    if (a->ss_family == AF_INET)
        ((struct sockaddr_in *)a)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)a)->sin6_port = htons(port);
}

static DAT_EVENT_NUMBER refusal(int err)
{
    switch (err) {
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case EINVAL: /* a loopback address over another interface */
    case EADDRNOTAVAIL:
        return DAT_CONNECTION_EVENT_UNREACHABLE;
    case ETIMEDOUT:
        return DAT_CONNECTION_EVENT_TIMED_OUT;
    default:
        return DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
    }
}

/* Begins to connect. 0, or -errno: the attempt has failed. */
static int reach(struct ofi_conn *c, struct core_ep *ep, struct fi_info *info,
                 DAT_COUNT size, const void *private_data)
{
    unsigned char hello[CM_DATA_MAX];
    struct sockaddr_storage to = core_ep_remote(ep);
    size_t bytes = say_hello(c, c->oia, size, private_data, hello);
    int err = ofi_conn_attach(c, ep, info);
    if (err)
        return err;
    if (!atomic_load(&c->oia->link_up))
        return -ENETDOWN;
    if (to.ss_family != c->oia->ia->address.ss_family)
        return -EHOSTUNREACH;
    set_port(&to, port_of(ep->remote_qual));
    return fi_connect(c->fid, &to, hello, bytes);
}

DAT_RETURN ofi_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                       const void *private_data)
{
    struct ofi_ia *oia = ofi_ia(ep->o.ia);
    struct fi_info *info = ofi_fabric_info(oia, 0);
    struct ofi_conn *c = ofi_conn_new(oia, OFI_CONNECTING);
    if (!c || !info || ofi_thread_start(oia)) {
        if (c)
            ofi_conn_free(c);
        if (info)
            fi_freeinfo(info);
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    }
    int err = reach(c, ep, info, size, private_data);
    fi_freeinfo(info);
    if (err) {
        ofi_conn_end(c, refusal(-err), NULL, 0);
        return DAT_SUCCESS;
    }
    if (timeout_us != UINT64_MAX)
        ofi_conn_mind(c, timeout_us * 1000);
    else
        ofi_thread_wake(oia);
    return DAT_SUCCESS;
}

static void on_answer(struct ofi_conn *c, const void *data, size_t bytes)
{
    DAT_COUNT size;
    const void *private_data = read_hello(c, data, bytes, &size);
    if (!private_data) {
        ofi_conn_ended(c);
        return;
    }
    ofi_conn_say(c, OFI_CONFIRM);
    ofi_conn_established(c, private_data, size);
}

static void on_refusal(struct ofi_conn *c, const struct fi_eq_err_entry *e)
{
    DAT_COUNT size;
    const void *private_data =
        e->err_data_size
            ? read_hello(NULL, e->err_data, e->err_data_size, &size)
            : NULL;
    if (private_data)
        ofi_conn_end(c, DAT_CONNECTION_EVENT_PEER_REJECTED, private_data, size);
    else
        ofi_conn_end(c, refusal(e->err), NULL, 0);
}

/* --------------------------------------------------------- passive side --- */

/* libfabric's tcp (1.17; cured later) forgets the sockets that it has accepted
 * whose requests have not arrived: it leaks them, and their peers wait. Or it
 * reads such a request later with what describes the closed listener. So they
 * end before, each as a request that is rejected or as a peer that leaves. */
static void listener_close(struct ofi_ia *oia, struct ofi_listener *l)
{
    if (!oia->ia->forked) {
        int tries = END_TRIES;
        while (tries-- && ofi_socket_end_service(oia, l->pep))
            ofi_cm_events(oia);
        fi_close(&l->pep->fid);
    }
    free(l);
}

/* Closes the retired listeners that are due by now, and those of the port;
 * returns when the next one is due. */
static uint64_t retired_close(struct ofi_ia *oia, uint16_t port, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    struct ofi_listener **at = &oia->listeners, *l;
    while ((l = *at)) {
        if (l->sp || (l->until > now && l->port != port)) {
            next = l->until < next ? l->until : next;
            at = &l->next;
            continue;
        }
        *at = l->next;
        listener_close(oia, l);
    }
    return next;
}

uint64_t ofi_listeners_look(struct ofi_ia *oia, uint64_t now)
{
    return retired_close(oia, 0, now);
}

DAT_RETURN ofi_listen(struct core_sp *sp)
{
    struct ofi_ia *oia = ofi_ia(sp->o.ia);
    struct ofi_listener *l = calloc(1, sizeof *l);
    struct fi_info *info = NULL;
    int err = -ENOMEM, guess = 0;
    if (!port_of(sp->qual)) {
        free(l);
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    }
    if (!l || ofi_thread_start(oia))
        goto out;
    l->sp = sp;
    l->until = UINT64_MAX;
    l->port = port_of(sp->qual);
    retired_close(oia, l->port, 0);
    info = ofi_fabric_info(oia, l->port);
    guess = ofi_socket_next();
    if (info)
        err = fi_passive_ep(oia->fabric, info, &l->pep, l);
    if (!err)
        err = fi_pep_bind(l->pep, &oia->eq->fid, 0);
    if (!err)
        err = fi_listen(l->pep);
out:
    if (info)
        fi_freeinfo(info);
    if (!err) {
        l->fd = ofi_socket_find_listening(l->pep, guess);
        l->next = oia->listeners;
        oia->listeners = sp->tp = l;
        ofi_thread_wake(oia);
        return DAT_SUCCESS;
    }
    if (l && l->pep)
        fi_close(&l->pep->fid);
    free(l);
    if (err == -EADDRINUSE)
        return CORE_ERROR(DAT_CONN_QUAL_IN_USE, 0);
    return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
}

void ofi_unlisten(struct core_sp *sp)
{
    struct ofi_ia *oia = ofi_ia(sp->o.ia);
    struct ofi_listener *l = sp->tp;
    l->sp = NULL;
    l->until = busywait_now_ns() + RETIRED_NS;
    if (!oia->ia->forked)
        ofi_thread_wake(oia);
}

/* In a forked child: the port belongs to the parent. */
void ofi_cm_forked(struct ofi_ia *oia)
{
    for (struct ofi_listener *l = oia->listeners; l; l = l->next)
        if (l->fd >= 0)
            close(l->fd);
}

static void on_request(struct ofi_ia *oia, struct ofi_listener *l,
                       struct fi_info *info, const void *data, size_t bytes)
{
    struct ofi_conn *c = ofi_conn_new(oia, OFI_OFFERED);
    struct sockaddr_storage from = {0};
    DAT_COUNT size;
    const void *private_data =
        c && l->sp ? read_hello(c, data, bytes, &size) : NULL;
    if (info->dest_addr && info->dest_addrlen <= sizeof from)
        memcpy(&from, info->dest_addr, info->dest_addrlen);
    uint16_t port = from.ss_family == AF_INET6
                        ? ((struct sockaddr_in6 *)&from)->sin6_port
                        : ((struct sockaddr_in *)&from)->sin_port;
    if (c)
        c->info = info;
    /* the service point may be gone after this (RSP) */
    if (private_data &&
        !core_cr_arrived(l->sp, c, &from, ntohs(port), private_data, size))
        return;
    fi_reject(oia->rejecter, info->handle, NULL, 0);
    if (c)
        ofi_conn_free(c);
    else
        fi_freeinfo(info);
}

DAT_RETURN ofi_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                      const void *private_data)
{
    struct ofi_conn *c = cr->tp;
    unsigned char hello[CM_DATA_MAX];
    size_t bytes = say_hello(c, c->oia, size, private_data, hello);
    int err = ofi_conn_attach(c, ep, c->info);
    if (!err) /* libfabric had accepted it before, in order */
        c->fd = ofi_socket_find(c->fid, c->oia->last_accepted + 1);
    if (c->fd >= 0)
        c->oia->last_accepted = c->fd;
    if (!err)
        err = fi_accept(c->fid, hello, bytes);
    if (err) {
        ofi_conn_end(c, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, NULL, 0);
        if (c->oia->talks) /* tcp keeps a request that it has not accepted */
            fi_reject(c->oia->rejecter, c->info->handle, NULL, 0);
        return DAT_SUCCESS;
    }
    c->state = OFI_ACCEPTED;
    ofi_conn_mind(c, HANDSHAKE_NS);
    ofi_cm_events(c->oia); /* sends the answer */
    return DAT_SUCCESS;
}

void ofi_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data)
{
    struct ofi_conn *c = cr->tp;
    unsigned char hello[CM_DATA_MAX];
    if (!cr->o.ia->forked)
        fi_reject(c->oia->rejecter, c->info->handle, hello,
                  say_hello(NULL, c->oia, size, private_data, hello));
    ofi_conn_free(c);
}

/* -------------------------------------------------------------- events --- */

union event {
    struct fi_eq_cm_entry cm;
    unsigned char bytes[sizeof(struct fi_eq_cm_entry) + CM_DATA_MAX];
};

static void on_replied(struct ofi_conn *c)
{
    c->replied = true;
    if (!c->oia->talks) /* the network itself confirms */
        ofi_conn_established(c, NULL, 0);
}

static void on_event(struct ofi_ia *oia, uint32_t number,
                     const union event *event, size_t bytes)
{
    const struct fi_eq_cm_entry *cm = &event->cm;
    size_t data = bytes - sizeof *cm;
    if (number == FI_CONNREQ) {
        on_request(oia, cm->fid->context, cm->info, cm->data, data);
        return;
    }
    struct ofi_conn *c = cm->fid->context;
    if (number == FI_SHUTDOWN)
        ofi_conn_ended(c);
    else if (number == FI_CONNECTED && c->state == OFI_CONNECTING)
        on_answer(c, cm->data, data);
    else if (number == FI_CONNECTED && c->state == OFI_ACCEPTED)
        on_replied(c);
}

static void on_error(struct ofi_ia *oia)
{
    unsigned char data[CM_DATA_MAX];
    struct fi_eq_err_entry e = {.err_data = data, .err_data_size = sizeof data};
    if (fi_eq_readerr(oia->eq, &e, 0) < 0 || !e.fid ||
        e.fid->fclass != FI_CLASS_EP)
        return;
    if (e.err_data != data)
        e.err_data_size = 0;
    struct ofi_conn *c = e.fid->context;
    if (c->state == OFI_CONNECTING)
        on_refusal(c, &e);
    else
        ofi_conn_ended(c);
}

bool ofi_cm_events(struct ofi_ia *oia)
{
    for (bool any = false;; any = true) {
        union event event;
        uint32_t number;
        /* with EAGAIN, tcp takes a stranger's close for "not yet" */
        errno = 0;
        ssize_t n = fi_eq_read(oia->eq, &number, &event, sizeof event, 0);
        if (n == -FI_EAVAIL)
            on_error(oia);
        else if (n >= (ssize_t)sizeof event.cm)
            on_event(oia, number, &event, (size_t)n);
        else
            return any;
    }
}
