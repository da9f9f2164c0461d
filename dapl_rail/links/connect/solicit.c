/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/solicit.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/conn_request.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"
#include "dapl_rail/rails/rail.h"

#define FIRST_MS  2u
#define AGAIN_MS  50u   /* after an answer; doubled after each round */
#define SILENT_MS 1000u /* for an answer; doubled for the next one */
#define TRIES     4u /* rounds refused: a provider may have too many requests */
#define DOUBLINGS 8u

static void in_ms(struct peer *peer, unsigned ms)
{
    peer->solicit.due_ns = job_now(peer->owner->job) + ms * MS;
}

/* A round tries each rail once. */
static unsigned rails_of(const struct peer *peer)
{
    return (unsigned)__builtin_popcount(peer->rails);
}

static unsigned longer(const struct peer *peer, unsigned ms)
{
    unsigned rounds = peer->solicit.unanswered / rails_of(peer);
    return ms << (rounds < DOUBLINGS ? rounds : DOUBLINGS);
}

/* The rail whose turn it is. */
static struct rail *rail_of(const struct peer *peer)
{
    uint32_t left = peer->rails;
    for (unsigned n = peer->solicit.turn % rails_of(peer); n; n--)
        left &= left - 1;
    return &peer->owner->rails[__builtin_ctz(left)];
}

/* *call: the DAT call that returned the status. */
static DAT_RETURN ask(struct peer *peer, enum hello_kind kind,
                      const char **call)
{
    struct rail *rail = rail_of(peer);
    struct link_hello hello = hello_of(rail, 0);
    hello.kind = kind;
    hello.attempt = peer->attempt.number;
    peer->solicit.gives_up = kind == HELLO_GIVES_UP;
    *call = "dat_ep_create";
    DAT_RETURN status =
        dat_ep_create(rail->ia, rail->pz, rail->dto_evd, rail->dto_evd,
                      rail->conn_evd, NULL, &peer->solicit.ep);
    if (status != DAT_SUCCESS) {
        peer->solicit.ep = DAT_HANDLE_NULL;
        return status;
    }
    TAILQ_INSERT_TAIL(&rail->owner->soliciting, peer, solicit.others);
    in_ms(peer, longer(peer, SILENT_MS));
    *call = "dat_ep_connect";
    return conn_request_send(peer->solicit.ep, rail, peer->rank, &hello);
}

int solicit(struct peer *peer)
{
    const char *call;
    if (!peer->solicit.due_ns)
        in_ms(peer, FIRST_MS);
    if (peer->solicit.ep || job_now(peer->owner->job) < peer->solicit.due_ns)
        return 0;
    DAT_RETURN status = ask(peer, HELLO_SOLICITS, &call);
    if (status == DAT_SUCCESS)
        return 0;
    solicit_end(peer);
    return dat_fail(rail_of(peer), call, status);
}

/* Without a sentence of its own: that of the failed call is to stay. */
void solicit_give_up(struct peer *peer)
{
    const char *call;
    if (ask(peer, HELLO_GIVES_UP, &call) != DAT_SUCCESS)
        solicit_end(peer);
}

static void let_go(struct peer *peer)
{
    if (!peer->solicit.ep)
        return;
    dat_ep_disconnect(peer->solicit.ep, DAT_CLOSE_ABRUPT_FLAG);
    dat_ep_free(peer->solicit.ep);
    peer->solicit.ep = DAT_HANDLE_NULL;
    TAILQ_REMOVE(&peer->owner->soliciting, peer, solicit.others);
}

bool solicit_expire(struct peer *peer)
{
    if (!peer->solicit.ep || job_now(peer->owner->job) < peer->solicit.due_ns)
        return false;
    let_go(peer);
    peer->solicit.turn++;
    peer->solicit.unanswered++;
    peer->solicit.refusals = 0;
    return true;
}

void solicit_end(struct peer *peer)
{
    let_go(peer);
    peer->solicit.due_ns = 0;
    peer->solicit.unanswered = peer->solicit.refusals = 0;
    peer->solicit.gives_up = false;
}

/* Another process may listen at the peer's address now. */
static bool is_answer(const struct rail *rail, const struct peer *peer,
                      const DAT_EVENT *event)
{
    const DAT_CONNECTION_EVENT_DATA *data =
        &event->event_data.connect_event_data;
    struct link_hello hello;
    return event->event_number == DAT_CONNECTION_EVENT_PEER_REJECTED &&
           hello_read(rail, data->private_data, data->private_data_size,
                      &hello) &&
           hello.rank == peer->rank;
}

/* Mostly they are answered in the order of asking. */
static struct peer *asked_by(const drail_t *t, DAT_EP_HANDLE ep)
{
    struct peer *peer;
    TAILQ_FOREACH(peer, &t->soliciting, solicit.others)
    if (peer->solicit.ep == ep)
        break;
    return peer;
}

/* Has each rail reported that the peer can't be reached, or refused often? */
static bool is_in_vain(const struct peer *peer, DAT_EVENT_NUMBER number)
{
    bool refused = number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
    return peer->solicit.refusals >= (refused ? TRIES : 1) * rails_of(peer);
}

void solicit_answered(struct rail *rail, const DAT_EVENT *event,
                      const char *text)
{
    struct peer *peer =
        asked_by(rail->owner, event->event_data.connect_event_data.ep_handle);
    if (!peer)
        return;
    if (peer->solicit.gives_up) {
        solicit_end(peer);
        return;
    }
    bool answered = is_answer(rail, peer, event);
    let_go(peer);
    peer->solicit.turn += !answered;
    peer->solicit.unanswered = answered ? 0 : peer->solicit.unanswered + 1;
    peer->solicit.refusals = answered ? 0 : peer->solicit.refusals + 1;
    bool within = peer->solicit.unanswered % rails_of(peer); /* a round */
    in_ms(peer, within ? FIRST_MS : longer(peer, AGAIN_MS));
    if (peer->connected || answered || !is_in_vain(peer, event->event_number))
        return;
    sentence_write(&peer->refused, "rank %u over %s: %s", peer->rank,
                   rail->info.name, text);
    atomic_store(&peer->error, DRAIL_EPEER);
    peer->attempt.absent = true;
}

void solicit_reject(const struct rail *rail, DAT_CR_HANDLE cr)
{
    struct link_hello hello = hello_of(rail, 0);
    dat_cr_reject(cr, sizeof hello, &hello);
}
