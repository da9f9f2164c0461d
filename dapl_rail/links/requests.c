/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The active side numbers its attempts, for the requests of one over several
 * rails come in any order, and late: the links of a connection are all of the
 * same attempt.
 */
#include "dapl_rail/links/requests.h"

#include <stdio.h>
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/accept.h"
#include "dapl_rail/links/connect.h"
#include "dapl_rail/links/hello.h"
#include "dapl_rail/links/knock.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/renew.h"
#include "dapl_rail/rails/fail.h"

/* Whose request is it, and which? NULL: of nobody whom we answer, that is of no
 * lower rank, but to a knock; or there is no memory. *status: that of the
 * query. */
static struct peer *peer_asking(struct rail *rail, DAT_CR_HANDLE cr,
                                struct hello *hello, DAT_RETURN *status)
{
    drail_t *t = rail->owner;
    DAT_CR_PARAM param;
    memset(&param, 0, sizeof param);
    *status = dat_cr_query(cr, DAT_CR_FIELD_ALL, &param);
    if (*status != DAT_SUCCESS ||
        !hello_read(rail, param.private_data, param.private_data_size, hello) ||
        (hello->rank > t->job->rank) != (bool)hello->knock)
        return NULL;
    return peer_meet(t, hello->rank);
}

static bool is_newer(const struct peer *peer, const struct hello *hello)
{
    return (int16_t)(hello->attempt - peer->attempt) > 0;
}

/* Has the acceptance of its request failed? The provider of who asked may ask
 * again by itself; what tells of the failure came before that. */
static bool is_missed(struct rail *rail, const struct link *link)
{
    if (link->state == LINK_CONNECTING)
        rail_check(rail);
    return !link->established && link->state > LINK_UP;
}

/* Is the request still that which has been noted for this lane? A provider
 * takes back what its sender has given up, and may use the handle for another
 * request, whose own event tells of it. */
static bool still_waits(struct peer *peer, unsigned rail, unsigned ep,
                        DAT_CR_HANDLE cr)
{
    struct hello hello;
    DAT_RETURN status;
    return cr &&
           peer_asking(&peer->owner->rails[rail], cr, &hello, &status) ==
               peer &&
           !hello.knock && hello.ep == ep && hello.attempt == peer->attempt;
}

/* Is it of an attempt that is over? Or one too many. */
static bool is_late(struct peer *peer, struct rail *rail,
                    const struct hello *hello, DAT_CR_HANDLE cr)
{
    const struct lane *lane = peer_lane(peer, rail->index, hello->ep);
    return hello->attempt != peer->attempt || peer->given_up ||
           hello->rails != peer->asked ||
           !(hello->rails & RAIL_BIT(rail->index)) ||
           (lane->waiting != cr &&
            still_waits(peer, rail->index, hello->ep, lane->waiting)) ||
           (!peer->connected && lane->link && !link_is_new(lane->link) &&
            !is_missed(rail, lane->link));
}

/* The next request that waits, from place *at on; NULL: there are no more. All,
 * or those that can be accepted, as no link is in their place. */
static DAT_CR_HANDLE next_waiting(struct peer *peer, unsigned *at, bool all)
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
    while ((cr = next_waiting(peer, &at, true)))
        dat_cr_reject(cr, 0, NULL);
}

/* The peer has given up the attempt before, or the connection. */
static void attempt_begins(struct peer *peer, const struct hello *hello)
{
    struct link *link;
    unsigned at = 0;
    requests_reject(peer);
    peer->attempt = hello->attempt;
    peer->given_up = false;
    peer->asked = hello->rails == peer->outside ? peer->outside : peer->inside;
    if (!peer->connected)
        peer_free(peer);
    peer->ending = peer->connected;
    while ((link = peer_next(peer, UINT32_MAX, &at)))
        link_down(link, DRAIL_EPEER, "the peer connects anew");
}

/* Told to whoever connects to this peer. */
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
    struct hello hello = hello_of(rail, ep);
    int rc = connect_links(peer);
    struct link *link = peer_link(peer, rail->index, ep);
    if (!rc)
        rc = link_renew(link);
    if (rc) {
        refuse(cr, peer, rc, drail_last_error(rail->owner));
        return;
    }
    DAT_RETURN status = request_accept(cr, link, &hello);
    link->begun = status == DAT_SUCCESS;
    if (!link->begun) {
        rc = dat_fail(rail, "dat_cr_accept", status);
        link_lost(link, rc, "%s", rail->error.text);
    } else if (link->state == LINK_LOST) { /* its first acceptance failed */
        renew_await(link);
    }
}

/*
 * The peer wants a connection. Where it has seen that there is one, it has let
 * go of it; of an earlier attempt, it knew nothing yet.
 */
static void knocked(struct peer *peer, const struct hello *hello)
{
    struct link *link;
    unsigned at = 0;
    if (!peer->connected) {
        peer->wanted = peer->owner->meeting = true;
        return;
    }
    while (hello->attempt == peer->attempt &&
           (link = peer_next(peer, UINT32_MAX, &at)))
        link_down(link, DRAIL_EPEER, "the peer connects anew");
}

/* Is it the first request for a link that this rank has begun without? */
static bool is_left_out(const struct peer *peer, const struct rail *rail,
                        const struct hello *hello)
{
    const struct link *link = peer_link(peer, rail->index, hello->ep);
    return peer->connected && hello->attempt == peer->attempt && link &&
           link->state == LINK_LOST;
}

/* Whoever can't be rejected at once waits for an answer. */
static void note(struct rail *rail, DAT_CR_HANDLE cr)
{
    struct hello hello;
    DAT_RETURN status;
    struct peer *peer = peer_asking(rail, cr, &hello, &status);
    if (DAT_GET_TYPE(status) == DAT_INVALID_HANDLE)
        return; /* its sender has given up: the provider took it back */
    if (peer && hello.knock) {
        knocked(peer, &hello);
        knock_answer(rail, cr);
        return;
    }
    if (peer && is_newer(peer, &hello))
        attempt_begins(peer, &hello);
    bool again = peer && (hello.again || is_left_out(peer, rail, &hello));
    if (again && renew_accept(rail, cr, peer, &hello))
        return;
    if (!peer || again || is_late(peer, rail, &hello, cr)) {
        dat_cr_reject(cr, 0, NULL);
        return;
    }
    peer_lane(peer, rail->index, hello.ep)->waiting = cr;
    rail->owner->meeting = true;
}

void requests_note(drail_t *t)
{
    DAT_EVENT event;
    for (unsigned r = 0; r < t->nrails; r++)
        while (dat_evd_dequeue(t->rails[r].cr_evd, &event) == DAT_SUCCESS)
            note(&t->rails[r],
                 event.event_data.cr_arrival_event_data.cr_handle);
}

void requests_resume(struct peer *peer)
{
    DAT_CR_HANDLE cr;
    unsigned at = 0;
    while ((cr = next_waiting(peer, &at, false))) {
        unsigned eps = peer->owner->cfg.eps, none = 0;
        if (!peer_next(peer, UINT32_MAX, &none))
            peer_take(peer, peer->asked);
        accept_link(&peer->owner->rails[(at - 1) / eps], cr, peer,
                    (at - 1) % eps);
    }
}

bool requests_wait(const struct peer *peer)
{
    unsigned lanes = peer->owner->nrails * peer->owner->cfg.eps;
    for (unsigned i = 0; i < lanes; i++)
        if (peer->lanes[i].waiting)
            return true;
    return false;
}

void requests_end(struct peer *peer)
{
    peer->given_up = true;
    requests_reject(peer);
}
