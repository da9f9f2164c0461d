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
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect.h"
#include "dapl_rail/links/hello.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"

/* Whom do we accept? Lower ranks. */
static struct peer *peer_asking(struct rail *rail, const DAT_CR_PARAM *param,
                                struct hello *hello)
{
    drail_t *t = rail->owner;
    if (!hello_read(rail, param->private_data, param->private_data_size,
                    hello) ||
        hello->rank > t->job->rank)
        return NULL;
    return &t->peers[hello->rank];
}

static bool is_newer(const struct peer *peer, const struct hello *hello)
{
    return (int16_t)(hello->attempt - peer->attempt) > 0;
}

/* Is it of an attempt that is over? Or one too many. */
static bool is_late(const struct peer *peer, const struct rail *rail,
                    const struct hello *hello)
{
    return hello->attempt != peer->attempt || peer->given_up ||
           peer->waiting[rail->index][hello->ep] ||
           (!peer->connected && peer->links[rail->index][hello->ep]);
}

/* The peer has given up the attempt before, or the connection. */
static void attempt_begins(struct peer *peer, uint16_t attempt)
{
    struct link *link;
    unsigned at = 0;
    requests_reject(peer);
    peer->attempt = attempt;
    peer->given_up = false;
    if (!peer->connected)
        peer_free(peer);
    while ((link = peer_next(peer, UINT32_MAX, &at)))
        link_down(link, DRAIL_EPEER, "the peer connects anew");
}

/* The active side sees our settings. */
static void reject(const struct rail *rail, DAT_CR_HANDLE cr)
{
    struct hello hello = hello_of(rail, 0);
    dat_cr_reject(cr, sizeof hello, &hello);
}

/* Told to whoever connects to this peer. */
static void refuse(struct rail *rail, DAT_CR_HANDLE cr, struct peer *peer,
                   int code, const char *why)
{
    snprintf(peer->refused, sizeof peer->refused, "%s", why);
    atomic_store(&peer->error, code);
    reject(rail, cr);
}

static void accept_link(struct rail *rail, DAT_CR_HANDLE cr, struct peer *peer,
                        unsigned ep)
{
    drail_t *t = rail->owner;
    struct hello hello = hello_of(rail, ep);
    struct link *link;
    int rc = t->handlers->prepare(peer);
    if (!rc)
        rc = link_open(rail, peer, ep, &link);
    if (rc) {
        refuse(rail, cr, peer, rc, drail_last_error(t));
        return;
    }
    peer->links[rail->index][ep] = link;
    DAT_RETURN status = dat_cr_accept(cr, link->ep, sizeof hello, &hello);
    if (status != DAT_SUCCESS) {
        rc = dat_fail(rail, "dat_cr_accept", status);
        link_down(link, rc, "%s", rail->error.text);
    }
}

static int answer(struct rail *rail, DAT_CR_HANDLE cr)
{
    DAT_CR_PARAM param;
    struct hello hello;
    char why[200];
    memset(&param, 0, sizeof param);
    DAT_RETURN status = dat_cr_query(cr, DAT_CR_FIELD_ALL, &param);
    if (DAT_GET_TYPE(status) == DAT_INVALID_HANDLE)
        return 0; /* its sender has given up: the provider took it back */
    if (status != DAT_SUCCESS)
        return dat_fail(rail, "dat_cr_query", status);
    struct peer *peer = peer_asking(rail, &param, &hello);
    if (peer && is_newer(peer, &hello))
        attempt_begins(peer, hello.attempt);
    if (!peer || is_late(peer, rail, &hello))
        reject(rail, cr);
    else if (hello_differs(rail, &hello, why, sizeof why))
        refuse(rail, cr, peer, DRAIL_EINVAL, why);
    else if (peer->connected)
        peer->waiting[rail->index][hello.ep] = cr;
    else
        accept_link(rail, cr, peer, hello.ep);
    return 0;
}

int requests_serve(drail_t *t)
{
    DAT_EVENT event;
    int rc = 0;
    for (unsigned r = 0; r < t->nrails && !rc; r++)
        while (!rc &&
               dat_evd_dequeue(t->rails[r].cr_evd, &event) == DAT_SUCCESS)
            rc = answer(&t->rails[r],
                        event.event_data.cr_arrival_event_data.cr_handle);
    return rc;
}

/* The next that waits, from place *at on; NULL: there are no more. */
static DAT_CR_HANDLE next_waiting(struct peer *peer, unsigned *at)
{
    DAT_CR_HANDLE cr = DAT_HANDLE_NULL;
    for (; !cr && *at < DRAIL_MAX_RAILS * DRAIL_MAX_EPS; ++*at) {
        DAT_CR_HANDLE *place =
            &peer->waiting[*at / DRAIL_MAX_EPS][*at % DRAIL_MAX_EPS];
        cr = *place;
        *place = DAT_HANDLE_NULL;
    }
    return cr;
}

int requests_resume(struct peer *peer)
{
    DAT_CR_HANDLE cr;
    unsigned at = 0;
    int rc = 0;
    while (!rc && (cr = next_waiting(peer, &at)))
        rc = answer(&peer->owner->rails[(at - 1) / DRAIL_MAX_EPS], cr);
    return rc;
}

void requests_end(struct peer *peer)
{
    peer->given_up = true;
}

void requests_reject(struct peer *peer)
{
    DAT_CR_HANDLE cr;
    unsigned at = 0;
    while ((cr = next_waiting(peer, &at)))
        dat_cr_reject(cr, 0, NULL);
}
