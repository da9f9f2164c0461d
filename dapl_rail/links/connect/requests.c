/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/requests.h"

#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/conn_request.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/connect/solicit.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/reconnect.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"

/* Reads a request, and returns the peer that sent it. NULL: the request must
 * not be answered (requests come from lower ranks, solicitations from higher
 * ones), or out of memory. *status is that of the query. */
static struct peer *peer_asking(struct rail *rail, DAT_CR_HANDLE cr,
                                struct link_hello *hello, DAT_RETURN *status)
{
    drail_t *t = rail->owner;
    DAT_CR_PARAM param;
    memset(&param, 0, sizeof param);
    *status = dat_cr_query(cr, DAT_CR_FIELD_ALL, &param);
    if (*status != DAT_SUCCESS ||
        !hello_read(rail, param.private_data, param.private_data_size, hello) ||
        (hello->kind != HELLO_GIVES_UP &&
         (hello->rank > t->job->rank) != (hello->kind == HELLO_SOLICITS)))
        return NULL;
    return peer_meet(t, hello->rank);
}

/* May the peer's first request for this link be accepted? */
static bool link_is_new(const struct link *link)
{
    return link->ep.state == EP_NONE && !link->established &&
           link->state <= LINK_LOST && !link->failover->loss.losses;
}

static bool is_newer(const struct peer *peer, const struct link_hello *hello)
{
    return (int16_t)(hello->attempt - peer->attempt.number) > 0;
}

/* Has the acceptance of the link's request failed? The provider of its sender
 * may repeat the request by itself; the failure's event has come before. */
static bool check_missed(struct rail *rail, const struct link *link)
{
    if (link->state == LINK_CONNECTING)
        rail_check(rail);
    return !link->established && link->state > LINK_UP;
}

/* Is the request that was kept for this lane still valid? A provider takes a
 * request back if its sender has given up, and may use the handle for another
 * request, which has an event of its own. */
static bool still_waits(struct peer *peer, unsigned rail, unsigned ep,
                        DAT_CR_HANDLE cr)
{
    struct link_hello hello;
    DAT_RETURN status;
    return cr &&
           peer_asking(&peer->owner->rails[rail], cr, &hello, &status) ==
               peer &&
           hello.kind == HELLO_CONNECTS && hello.ep == ep &&
           hello.attempt == peer->attempt.number;
}

/* Is the request of an attempt that is over, or is its lane taken? */
static bool is_late(struct peer *peer, struct rail *rail,
                    const struct link_hello *hello, DAT_CR_HANDLE cr)
{
    const struct lane *lane = peer_lane(peer, rail->index, hello->ep);
    return hello->attempt != peer->attempt.number || peer->attempt.abandoned ||
           hello->rails != peer->attempt.rails ||
           !(hello->rails & RAIL_BIT(rail->index)) ||
           (lane->waiting != cr &&
            still_waits(peer, rail->index, hello->ep, lane->waiting)) ||
           (!peer->connected && lane->link && !link_is_new(lane->link) &&
            !check_missed(rail, lane->link));
}

/* Takes the next valid request that is kept, from lane *at on. NULL: there are
 * no more. all: also those whose lane still has an earlier link. */
static DAT_CR_HANDLE take_waiting(struct peer *peer, unsigned *at, bool all)
{
    unsigned eps = peer->owner->cfg.eps;
    while (*at < peer->owner->nrails * eps) {
        unsigned r = *at / eps, e = *at % eps;
        struct lane *lane = &peer->lanes[(*at)++];
        DAT_CR_HANDLE cr = lane->waiting;
        if (!all && lane->link && !link_is_new(lane->link))
            continue;
        lane->waiting = DAT_HANDLE_NULL;
        if (still_waits(peer, r, e, cr))
            return cr;
    }
    return DAT_HANDLE_NULL;
}

void requests_reject(struct peer *peer)
{
    DAT_CR_HANDLE cr;
    unsigned at = 0;
    while ((cr = take_waiting(peer, &at, true)))
        dat_cr_reject(cr, 0, NULL);
}

/* The peer has given up its last attempt, or the connection. */
static void attempt_begins(struct peer *peer, const struct link_hello *hello)
{
    struct link *link;
    requests_reject(peer);
    peer->attempt.number = hello->attempt;
    peer->attempt.abandoned = false;
    peer->attempt.rails =
        hello->rails == peer->outside ? peer->outside : peer->inside;
    if (!peer->connected)
        peer_free(peer);
    peer->ending = peer->connected;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
        link_down(link, DRAIL_EPEER, "the peer connects again");
}

/* Calls that connect to the peer report this error. */
static void refuse(DAT_CR_HANDLE cr, struct peer *peer, int code,
                   const char *why)
{
    sentence_write(&peer->refused, "%s", why);
    atomic_store(&peer->error, code);
    dat_cr_reject(cr, 0, NULL);
}

static void accept_link(struct rail *rail, DAT_CR_HANDLE cr, struct peer *peer,
                        unsigned ep)
{
    struct link_hello hello = hello_of(rail, ep);
    int rc = connect_links(peer);
    struct link *link = peer_link(peer, rail->index, ep);
    if (!rc)
        rc = ep_open(link);
    if (rc) {
        refuse(cr, peer, rc, drail_last_error(rail->owner));
        return;
    }
    DAT_RETURN status = conn_request_accept(cr, link, &hello);
    link->ep.begun = status == DAT_SUCCESS;
    if (!link->ep.begun) {
        rc = dat_fail(rail, "dat_cr_accept", status);
        link_lose(link, rc, "%s", rail->error.text);
    } else if (link->state == LINK_LOST) { /* its first acceptance failed */
        reconnect_await(link);
    }
}

/* The peer solicits a connection. If it names the attempt of the present one,
 * it has given that up; else it did not know of it yet. */
static void solicited(struct peer *peer, const struct link_hello *hello)
{
    struct link *link;
    unsigned at = 0;
    if (!peer->connected) {
        peer->attempt.wanted = peer->owner->meeting = true;
        return;
    }
    while (hello->attempt == peer->attempt.number &&
           (link = peer_next(peer, UINT32_MAX, &at)))
        link_down(link, DRAIL_EPEER, "the peer connects again");
}

/* The peer could not make its part of a connection. A call that waits for it
 * ends; a later one begins anew. */
static void given_up(struct peer *peer, const struct link_hello *hello)
{
    bool older = hello->rank < peer->owner->job->rank &&
                 (int16_t)(hello->attempt - peer->attempt.number) < 0;
    if (peer->connected || !peer->attempt.held || older)
        return;
    sentence_write(&peer->refused,
                   "rank %u has no resources for the connection", peer->rank);
    atomic_store(&peer->error, DRAIL_EPEER);
}

/* Is it the first request for a link that was lost before it came up? */
static bool is_left_out(const struct peer *peer, const struct rail *rail,
                        const struct link_hello *hello)
{
    const struct link *link = peer_link(peer, rail->index, hello->ep);
    return peer->connected && hello->attempt == peer->attempt.number && link &&
           link->state == LINK_LOST;
}

/* Keeps the request for requests_resume(), or answers it at once. */
static void take(struct rail *rail, DAT_CR_HANDLE cr)
{
    struct link_hello hello;
    DAT_RETURN status;
    struct peer *peer = peer_asking(rail, cr, &hello, &status);
    if (DAT_GET_TYPE(status) == DAT_INVALID_HANDLE)
        return; /* its sender has given up: the provider has taken it back */
    if (peer && hello.kind != HELLO_CONNECTS) {
        if (hello.kind == HELLO_SOLICITS)
            solicited(peer, &hello);
        else
            given_up(peer, &hello);
        solicit_reject(rail, cr);
        return;
    }
    if (peer && is_newer(peer, &hello))
        attempt_begins(peer, &hello);
    bool again = peer && (hello.reconnect || is_left_out(peer, rail, &hello));
    if (again && reconnect_accept(rail, cr, peer, &hello))
        return;
    if (!peer || again || is_late(peer, rail, &hello, cr)) {
        dat_cr_reject(cr, 0, NULL);
        return;
    }
    peer_lane(peer, rail->index, hello.ep)->waiting = cr;
    rail->owner->meeting = true;
}

void requests_take(drail_t *t)
{
    DAT_EVENT event;
    for (unsigned r = 0; r < t->nrails; r++)
        while (dat_evd_dequeue(t->rails[r].cr_evd, &event) == DAT_SUCCESS)
            take(&t->rails[r],
                 event.event_data.cr_arrival_event_data.cr_handle);
}

void requests_resume(struct peer *peer)
{
    DAT_CR_HANDLE cr;
    unsigned at = 0;
    while ((cr = take_waiting(peer, &at, false))) {
        unsigned eps = peer->owner->cfg.eps, none = 0;
        if (!peer_next(peer, UINT32_MAX, &none))
            peer_take(peer, peer->attempt.rails);
        accept_link(&peer->owner->rails[(at - 1) / eps], cr, peer,
                    (at - 1) % eps);
    }
}

bool requests_waiting(const struct peer *peer)
{
    unsigned lanes = peer->owner->nrails * peer->owner->cfg.eps;
    for (unsigned i = 0; i < lanes; i++)
        if (peer->lanes[i].waiting)
            return true;
    return false;
}

void requests_end(struct peer *peer)
{
    peer->attempt.abandoned = true;
    requests_reject(peer);
}
