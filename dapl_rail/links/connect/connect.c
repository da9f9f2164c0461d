/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/connect.h"

#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/conn_request.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/connect/solicit.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/ep_release.h"
#include "dapl_rail/links/ep_table.h"
#include "dapl_rail/links/failover/outstanding.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/platform/deadline.h"
#include "dapl_rail/platform/resources.h"
#include "dapl_rail/rails/fail.h"

#define LATE_NS  (500 * MS)  /* an asynchronous event may be so late */
#define LATER_NS (1000 * MS) /* for a link to come up after the first one */

/* ---------------------------------------------------- connection events */

static struct link *link_of(struct rail *rail, DAT_EP_HANDLE ep)
{
    struct link *link = ep_table_find(rail, ep);
    return link && !link->closed ? link : NULL;
}

static void established(struct link *link,
                        const DAT_CONNECTION_EVENT_DATA *data)
{
    struct link_hello hello;
    if (link->ep.state != EP_CONNECTING)
        return;
    bool active = link->rail->owner->job->rank < link->peer->rank;
    if (active && (!hello_read(link->rail, data->private_data,
                               data->private_data_size, &hello) ||
                   hello.rank != link->peer->rank)) {
        link_lose(link, DRAIL_EPEER, "the answer is not the peer's");
        return;
    }
    link->ep.state = EP_UP;
    link->established = true;
    link->ep.up_ns = job_now(link->rail->owner->job);
    if (link->state == LINK_LOST) {
        peer_unsettle(link->peer);
    } else {
        link->state = LINK_UP;
        link_pay(link); /* answers to messages that came before this event */
    }
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
    if (!link) {
        if (!ep_release_ended(rail, data->ep_handle))
            solicit_answered(rail, event, connection_text(event->event_number));
        return;
    }
    if (event->event_number == DAT_CONNECTION_EVENT_ESTABLISHED) {
        established(link, data);
        return;
    }
    bool late = event->event_number == DAT_CONNECTION_EVENT_TIMED_OUT &&
                link->state == LINK_CONNECTING;
    char limits[160] = "";
    if (link->state == LINK_CONNECTING) {
        link->peer->attempt.absent |=
            event->event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED ||
            event->event_number == DAT_CONNECTION_EVENT_UNREACHABLE;
        resources_text(limits, sizeof limits, false);
    }
    link_lose(link, late ? DRAIL_ETIMEOUT : DRAIL_EPEER, "%s%s",
              connection_text(event->event_number), limits);
}

/* Does the error matter to no link? Such are: an EP that has been given up;
 * lost requests, whose senders ask again; numbers that DAT does not have. Any
 * other may concern the whole rail: libdaplofa names the IA when an EVD
 * overflows. */
static bool is_harmless(const struct rail *rail, unsigned number,
                        DAT_HANDLE handle)
{
    return number == DAT_ASYNC_ERROR_EP_BROKEN || handle == rail->cr_evd ||
           number < DAT_ASYNC_ERROR_EVD_OVERFLOW ||
           number > DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR;
}

/* libdaplofa also reports a port that is active again, with a number that it
 * has not set, and perhaps only after a link has come up: such are ignored. */
static bool is_news(const struct link *link)
{
    return link->ep.state == EP_UP &&
           job_now(link->rail->owner->job) - link->ep.up_ns > LATE_NS;
}

/* An error of an EP concerns its link; any other, the whole rail. */
static void async_event(struct rail *rail, const DAT_EVENT *event)
{
    drail_t *t = rail->owner;
    DAT_HANDLE handle = event->event_data.asynch_error_event_data.dat_handle;
    unsigned number = (unsigned)event->event_number;
    struct link *only = link_of(rail, handle);
    if (!only && is_harmless(rail, number, handle))
        return;
    for (struct peer *peer = t->met; peer; peer = peer->next) {
        struct link *link;
        unsigned at = 0;
        while ((link = peer_next(peer, RAIL_BIT(rail->index), &at)))
            if (only ? link == only : is_news(link))
                link_lose(link, DRAIL_EPEER, "asynchronous error 0x%x", number);
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

static void link_drop(struct link *link)
{
    struct rail *rail = link->rail;
    peer_lane(link->peer, rail->index, link->index)->link = NULL;
    link->peer->completed += link_completed(link);
    link_close(link);
}

void peer_free(struct peer *peer)
{
    struct link *link;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
        link_drop(link);
    peer->owner->handlers->release(peer);
    sentence_clear(&peer->refused);
    peer->probed = NULL;
    peer->ending = false;
    peer->attempt.absent = false;
    atomic_store(&peer->error, 0);
    atomic_store(&peer->up, peer->rails);
}

bool connect_drop_stale(drail_t *t, struct peer *peer)
{
    struct link *link;
    bool ending = false;
    if (t->job->rank < peer->rank || sentence_is(peer->refused))
        return false;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));) {
        if (link->established || link->state <= LINK_LOST)
            continue;
        ending |= !link_try_flush(link);
        if (link->state != LINK_FLUSHED)
            continue;
        link_drop(link);
        atomic_store(&peer->error, 0);
    }
    return ending;
}

/* When the first of its links came up; NEVER: none has. */
static uint64_t first_up_ns(const struct peer *peer)
{
    const struct link *link;
    uint64_t first = NEVER;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
        if (link->established && link->ep.up_ns < first)
            first = link->ep.up_ns;
    return first;
}

/* Half of the time to connect at most: so the call has not ended yet. */
static bool is_too_late(const struct peer *peer)
{
    const drail_t *t = peer->owner;
    uint64_t most = (uint64_t)t->cfg.connect_timeout_ms * MS / 2;
    uint64_t now = job_now(t->job), first = first_up_ns(peer);
    return first < now && now - first > (most < LATER_NS ? most : LATER_NS);
}

/* Links that have never been up, and may still come up. */
static bool any_connecting(const struct peer *peer)
{
    const struct link *link;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
        if (link->state == LINK_CONNECTING)
            return true;
    return false;
}

/* Active side: can no link come up any more? */
static bool is_in_vain(const struct peer *peer)
{
    return peer->owner->job->rank < peer->rank && !any_connecting(peer) &&
           first_up_ns(peer) == NEVER;
}

void connect_leave_out(struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    bool late = is_too_late(peer), in_vain = is_in_vain(peer);
    while ((late || in_vain) && (link = peer_next(peer, UINT32_MAX, &at))) {
        if (in_vain)
            link_down(link, link->error, "%s", sentence_text(link->why));
        else if (link->state == LINK_CONNECTING)
            link_lose(link, DRAIL_EPEER, "the connection did not come up");
    }
}

bool connect_done(const struct peer *peer)
{
    /* A link that was up may be gone again: later calls will find that, after
     * they have delivered what the peer had sent. */
    return first_up_ns(peer) != NEVER && !any_connecting(peer);
}

int connect_error(struct peer *peer)
{
    struct link *link;
    bool was_up = false;
    int error = atomic_load(&peer->error);
    if (!error || sentence_is(peer->refused))
        return error;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));) {
        if (!link->established && link->state > LINK_UP)
            return error;
        was_up |= link->established;
    }
    return was_up ? 0 : error; /* others are still connecting */
}

int connect_links(struct peer *peer)
{
    drail_t *t = peer->owner;
    int rc = t->handlers->prepare(peer);
    for (uint32_t left = peer->rails; !rc && left; left &= left - 1)
        for (unsigned e = 0; !rc && e < t->cfg.eps; e++) {
            struct rail *rail = &t->rails[__builtin_ctz(left)];
            struct lane *lane = peer_lane(peer, rail->index, e);
            if (!lane->link)
                rc = link_open(rail, peer, e, &lane->link);
        }
    return rc;
}

/* ----------------------------------------------------------- active side */

static int ask(struct link *link)
{
    struct peer *peer = link->peer;
    struct rail *rail = link->rail;
    struct link_hello hello = hello_of(rail, link->index);
    hello.attempt = peer->attempt.number;
    hello.rails = (uint16_t)peer->rails;
    int rc = ep_open(link);
    if (rc)
        return rc;
    DAT_RETURN status =
        conn_request_send(link->ep.handle, rail, peer->rank, &hello);
    link->ep.begun = status == DAT_SUCCESS;
    if (link->ep.begun)
        return 0;
    rc = dat_fail(rail, "dat_ep_connect", status);
    link_lose(link, rc, "%s", rail->error.text);
    return link->state == LINK_LOST ? 0 : rc;
}

int connect_ask(struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    int rc = connect_links(peer);
    peer->attempt.number++;
    while (!rc && (link = peer_next(peer, UINT32_MAX, &at)))
        rc = ask(link);
    return rc;
}
