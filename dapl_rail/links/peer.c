/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting to a peer over every rail. The lower rank is the active side.
 * A request of any peer is accepted by whichever connect is under way, so
 * that ranks may connect in any order without waiting in a circle.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/inbox.h"
#include "dapl_rail/rails/rail.h"

#define HELLO_MAGIC    0x4452414cu /* "DRAL"; also checks the byte order */
#define HELLO_VERSION  1u
#define CONNECT_NAP_US 500u

/* Private data of a connection request and of its acceptance. */
struct hello {
    uint32_t magic;
    uint16_t version;
    uint16_t rail;
    uint32_t rank;
    uint32_t slot_bytes;
    uint64_t job;
};

static struct hello hello_of(const struct link *link)
{
    const drail_t *t = link->rail->owner;
    return (struct hello){
        .magic = HELLO_MAGIC,
        .version = HELLO_VERSION,
        .rail = (uint16_t)link->rail->index,
        .rank = t->job->rank,
        .slot_bytes = (uint32_t)link->slot_bytes,
        .job = t->job->id,
    };
}

/* A copy of private data, if it is a hello of our job for this rail. */
static bool hello_read(const struct rail *rail, const void *data,
                       DAT_COUNT bytes, struct hello *hello)
{
    const drail_t *t = rail->owner;
    /* providers may pad private data, but not cut it */
    if (!data || bytes < (DAT_COUNT)sizeof *hello)
        return false;
    memcpy(hello, data, sizeof *hello);
    return hello->magic == HELLO_MAGIC && hello->version == HELLO_VERSION &&
           hello->rail == rail->index && hello->job == t->job->id &&
           hello->rank < t->job->size && hello->rank != t->job->rank;
}

/* ---------------------------------------------------- connection events */

static struct link *link_of(struct rail *rail, DAT_EP_HANDLE ep)
{
    drail_t *t = rail->owner;
    for (unsigned p = 0; p < t->job->size; p++) {
        struct link *link = t->peers[p].links[rail->index];
        if (link && link->ep == ep)
            return link;
    }
    return NULL;
}

static void established(struct link *link,
                        const DAT_CONNECTION_EVENT_DATA *data)
{
    struct hello hello;
    if (link->state != LINK_CONNECTING)
        return;
    bool active = link->rail->owner->job->rank < link->peer->rank;
    if (active && (!hello_read(link->rail, data->private_data,
                               data->private_data_size, &hello) ||
                   hello.rank != link->peer->rank ||
                   hello.slot_bytes != link->slot_bytes)) {
        link_down(link, DRAIL_EPEER,
                  "its answer is not that of a peer with the same settings");
        return;
    }
    link->state = LINK_UP;
    link->established = true;
}

static const char *connection_text(DAT_EVENT_NUMBER number)
{
    switch ((unsigned)number) {
    case DAT_CONNECTION_EVENT_PEER_REJECTED:
        return "the peer rejected the connection";
    case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
        return "nobody listens (DAT_CONNECTION_EVENT_NON_PEER_REJECTED)";
    case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
        return "the acceptance failed";
    case DAT_CONNECTION_EVENT_DISCONNECTED:
        return "the peer disconnected";
    case DAT_CONNECTION_EVENT_BROKEN:
        return "the connection broke";
    case DAT_CONNECTION_EVENT_TIMED_OUT:
        return "the connection timed out";
    case DAT_CONNECTION_EVENT_UNREACHABLE:
        return "the peer is unreachable";
    default:
        return "unexpected connection event";
    }
}

static void connection_event(struct rail *rail, const DAT_EVENT *event)
{
    const DAT_CONNECTION_EVENT_DATA *data =
        &event->event_data.connect_event_data;
    struct link *link = link_of(rail, data->ep_handle);
    if (!link)
        return;
    if (event->event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
        established(link, data);
    else
        link_down(link, DRAIL_EPEER, "%s",
                  connection_text(event->event_number));
}

/* An error of an EP concerns its link, any other the whole rail. */
static void async_event(struct rail *rail, const DAT_EVENT *event)
{
    drail_t *t = rail->owner;
    DAT_HANDLE handle = event->event_data.asynch_error_event_data.dat_handle;
    struct link *only = link_of(rail, handle);
    for (unsigned p = 0; p < t->job->size; p++) {
        struct link *link = t->peers[p].links[rail->index];
        if (link && (!only || link == only))
            link_down(link, DRAIL_EPEER, "asynchronous error 0x%x",
                      (unsigned)event->event_number);
    }
}

void rail_check(struct rail *rail)
{
    DAT_EVENT event;
    while (dat_evd_dequeue(rail->conn_evd, &event) == DAT_SUCCESS)
        connection_event(rail, &event);
    while (rail->async_evd &&
           dat_evd_dequeue(rail->async_evd, &event) == DAT_SUCCESS)
        async_event(rail, &event);
}

/* ------------------------------------------------------------ both sides */

static int peer_prepare(drail_t *t, struct peer *peer)
{
    if (peer->notes.ring)
        return 0;
    unsigned capacity = t->nrails * t->cfg.depth;
    if (inbox_open(&peer->notes, capacity) ||
        inbox_open(&peer->messages, capacity))
        return fail(t, DRAIL_ENOMEM, "out of memory");
    return 0;
}

void peer_free(drail_t *t, struct peer *peer)
{
    for (unsigned r = 0; r < t->nrails; r++)
        if (peer->links[r])
            link_close(peer->links[r]);
    memset(peer->links, 0, sizeof peer->links);
    free(peer->notes.ring);
    free(peer->messages.ring);
}

static int accept_request(struct rail *rail, DAT_CR_HANDLE cr)
{
    drail_t *t = rail->owner;
    DAT_CR_PARAM param;
    struct hello hello;
    memset(&param, 0, sizeof param);
    DAT_RETURN status = dat_cr_query(cr, DAT_CR_FIELD_ALL, &param);
    if (status != DAT_SUCCESS)
        return dat_fail(rail, "dat_cr_query", status);
    /* only lower ranks ask, and each once */
    if (!hello_read(rail, param.private_data, param.private_data_size,
                    &hello) ||
        hello.rank > t->job->rank || t->peers[hello.rank].links[rail->index]) {
        dat_cr_reject(cr, 0, NULL);
        return 0;
    }
    if (hello.slot_bytes != slot_bytes(t)) {
        dat_cr_reject(cr, 0, NULL);
        return rail_fail(rail, DRAIL_EINVAL,
                         "rank %u has another DRAIL_EAGER_BYTES", hello.rank);
    }
    struct peer *peer = &t->peers[hello.rank];
    struct link *link;
    int rc = peer_prepare(t, peer);
    if (!rc)
        rc = link_open(rail, peer, &link);
    if (rc) {
        dat_cr_reject(cr, 0, NULL);
        return rc;
    }
    peer->links[rail->index] = link;
    hello = hello_of(link);
    status = dat_cr_accept(cr, link->ep, sizeof hello, &hello);
    if (status != DAT_SUCCESS) {
        rc = dat_fail(rail, "dat_cr_accept", status);
        link_down(link, rc, "%s", rail->error.text);
    }
    return rc;
}

static int serve_requests(drail_t *t)
{
    DAT_EVENT event;
    int rc = 0;
    for (unsigned r = 0; r < t->nrails && !rc; r++)
        while (!rc &&
               dat_evd_dequeue(t->rails[r].cr_evd, &event) == DAT_SUCCESS)
            rc = accept_request(
                &t->rails[r], event.event_data.cr_arrival_event_data.cr_handle);
    return rc;
}

static int ask(struct rail *rail, struct peer *peer)
{
    const struct card *card = &peer->cards[rail->index];
    struct sockaddr_storage address = card->address;
    struct link *link;
    int rc = link_open(rail, peer, &link);
    if (rc)
        return rc;
    peer->links[rail->index] = link;
    struct hello hello = hello_of(link);
    uint64_t us = (uint64_t)rail->owner->cfg.connect_timeout_ms * 1000u;
    if (us >= DAT_TIMEOUT_INFINITE)
        us = DAT_TIMEOUT_INFINITE - 1;
    DAT_RETURN status =
        dat_ep_connect(link->ep, (DAT_IA_ADDRESS_PTR)&address, card->conn_qual,
                       (DAT_TIMEOUT)us, sizeof hello, &hello,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
    if (status == DAT_SUCCESS)
        return 0;
    rc = dat_fail(rail, "dat_ep_connect", status);
    link_down(link, rc, "%s", rail->error.text);
    return rc;
}

/* A peer that has connected may be gone again: later calls will find that out,
 * after they have delivered what it had sent. */
static bool all_established(const drail_t *t, const struct peer *peer)
{
    for (unsigned r = 0; r < t->nrails; r++)
        if (!peer->links[r] || !peer->links[r]->established)
            return false;
    return true;
}

int drail_connect(drail_t *t, unsigned rank)
{
    if (!t)
        return DRAIL_EINVAL;
    if (rank >= t->job->size || rank == t->job->rank)
        return fail(t, DRAIL_EINVAL,
                    "drail_connect: rank %u is not another of %u ranks", rank,
                    t->job->size);
    struct peer *peer = &t->peers[rank];
    if (peer->connected)
        return 0;
    struct patience p = {.t = t, .timeout_ms = t->cfg.connect_timeout_ms};
    int rc = peer_prepare(t, peer);
    for (unsigned r = 0; !rc && r < t->nrails && t->job->rank < rank; r++)
        if (!peer->links[r])
            rc = ask(&t->rails[r], peer);
    while (!rc && !all_established(t, peer)) {
        struct timespec nap = {.tv_nsec = CONNECT_NAP_US * 1000};
        rc = serve_requests(t);
        for (unsigned r = 0; r < t->nrails; r++)
            rail_check(&t->rails[r]);
        if (rc || all_established(t, peer))
            break;
        rc = atomic_load(&peer->error);
        if (rc)
            break;
        rc = patience_check(&p);
        nanosleep(&nap, NULL);
    }
    if (rc)
        return outcome(t, peer, rc, "drail_connect");
    peer->connected = true;
    return 0;
}

struct peer *peer_get(drail_t *t, unsigned rank, int *rc)
{
    *rc = DRAIL_EINVAL;
    if (!t)
        return NULL;
    if (rank >= t->job->size || !t->peers[rank].connected) {
        fail(t, DRAIL_EINVAL, "rank %u is not connected", rank);
        return NULL;
    }
    struct peer *peer = &t->peers[rank];
    *rc = 0;
    return peer;
}
