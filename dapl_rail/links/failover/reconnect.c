/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/reconnect.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/conn_request.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/health.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"

#define FIRST_MS   20u   /* before the first attempt; doubled before the next */
#define LONGEST_MS 150u  /* plus 1 ms a rank: all may try at once */
#define ANSWER_MS  1000u /* for the peer, which must be in a call, … */
#define SYSTEM_MS  100u  /* … and for its system, if the provider reports */

static void step_in(struct link *link, unsigned ms)
{
    link->failover->reconnect.retry_ns =
        job_now(link->rail->owner->job) + ms * MS;
}

/* The attempt has begun. If the provider reports on the wire, it is asked soon.
 */
void reconnect_await(struct link *link)
{
    link->failover->reconnect.asked_ns = job_now(link->rail->owner->job);
    step_in(link, link_health(link).reported ? SYSTEM_MS : ANSWER_MS);
}

/* Has the peer's system not even acknowledged, or the peer not answered in its
 * time? */
static bool is_unanswered(const struct link *link)
{
    uint64_t asked =
        job_now(link->rail->owner->job) - link->failover->reconnect.asked_ns;
    return asked >= ANSWER_MS * MS || link_health(link).silent_ms >= SYSTEM_MS;
}

static void attempt_failed(struct link *link, const char *call,
                           DAT_RETURN status)
{
    dat_fail(link->rail, call, status);
    link_lose(link, DRAIL_EPEER, "%s", link->rail->error.text);
}

static void ask(struct link *link)
{
    struct peer *peer = link->peer;
    struct rail *rail = link->rail;
    struct link_hello hello = hello_of(rail, link->index);
    hello.attempt = peer->attempt.number;
    hello.reconnect = hello_reconnect(link->failover->loss.losses);
    DAT_RETURN status =
        conn_request_send(link->ep.handle, rail, peer->rank, &hello);
    link->ep.begun = status == DAT_SUCCESS;
    if (!link->ep.begun)
        attempt_failed(link, "dat_ep_connect", status);
}

/* Exponential backoff. */
static void back_off(struct link *link)
{
    struct reconnect *r = &link->failover->reconnect;
    unsigned longest = LONGEST_MS + link->rail->owner->job->size;
    r->backoff_ms = r->backoff_ms ? 2 * r->backoff_ms : FIRST_MS;
    if (r->backoff_ms > longest)
        r->backoff_ms = longest;
    step_in(link, r->backoff_ms);
}

static void try_now(struct link *link)
{
    if (ep_open(link)) {
        link_lose(link, DRAIL_EPEER, "%s", link->rail->error.text);
        /* link_lose() does not do that if there is no EP to be lost */
        link->failover->reconnect.retry_ns = 0;
        return;
    }
    step_in(link, ANSWER_MS);
    ask(link);
    if (link->ep.state == EP_CONNECTING)
        reconnect_await(link);
}

void reconnect_step(struct link *link)
{
    const drail_t *t = link->rail->owner;
    uint64_t retry_ns = link->failover->reconnect.retry_ns;
    bool due = job_now(t->job) >= retry_ns;
    if (link->ep.state == EP_CONNECTING && due && is_unanswered(link)) {
        link_lose(link, DRAIL_EPEER, "the new connection was not answered");
        step_in(link, t->job->size); /* that was long enough, for a few */
    } else if (link->ep.state == EP_CONNECTING && due) {
        step_in(link, SYSTEM_MS);
    } else if (link->ep.state == EP_NONE && t->job->rank < link->peer->rank) {
        if (!retry_ns)
            back_off(link);
        else if (due)
            try_now(link);
    }
}

bool reconnect_accept(struct rail *rail, DAT_CR_HANDLE cr, struct peer *peer,
                      const struct link_hello *hello)
{
    struct link *link = peer_link(peer, rail->index, hello->ep);
    struct link_hello mine = hello_of(rail, hello->ep);
    if (hello->attempt != peer->attempt.number || !link ||
        link->state != LINK_LOST || link->ep.state != EP_NONE ||
        hello_reconnect(hello->reconnect) !=
            hello_reconnect(link->failover->loss.losses) ||
        atomic_load(&peer->error) || peer->ending)
        return false;
    if (ep_open(link)) {
        link_lose(link, DRAIL_EPEER, "%s", rail->error.text);
        return false;
    }
    step_in(link, ANSWER_MS);
    DAT_RETURN status = conn_request_accept(cr, link, &mine);
    link->ep.begun = status == DAT_SUCCESS;
    if (link->ep.begun)
        reconnect_await(link);
    else
        attempt_failed(link, "dat_cr_accept", status);
    return true;
}
