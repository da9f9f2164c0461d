/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/renew.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/accept.h"
#include "dapl_rail/links/health.h"
#include "dapl_rail/links/hello.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/roster.h"
#include "dapl_rail/rails/fail.h"

#define FIRST_MS   20u /* before the first try, twice as long before the next */
#define LONGEST_MS 150u  /* and for each rank 1 ms more: all may try at once */
#define ANSWER_MS  1000u /* for the other side, which must be in a call, … */
#define SYSTEM_MS  100u  /* … and for its system, where the provider tells */

static void in_ms(struct link *link, unsigned ms)
{
    link->lost->retry_ns = job_now(link->rail->owner->job) + ms * MS;
}

/* The attempt has begun: its provider is asked how it goes, where it tells. */
void renew_await(struct link *link)
{
    struct lost *lost = link->lost;
    lost->asked_ns = job_now(link->rail->owner->job);
    in_ms(link, link_health(link).told ? SYSTEM_MS : ANSWER_MS);
}

/* Does the peer's system not even answer, or the peer not in its time? Asks
 * again later, if neither. */
static bool is_unanswered(struct link *link)
{
    uint64_t asked = job_now(link->rail->owner->job) - link->lost->asked_ns;
    if (asked >= ANSWER_MS * MS || link_health(link).silent_ms >= SYSTEM_MS)
        return true;
    in_ms(link, SYSTEM_MS);
    return false;
}

static void failed(struct link *link, const char *call, DAT_RETURN status)
{
    dat_fail(link->rail, call, status);
    link_lost(link, DRAIL_EPEER, "%s", link->rail->error.text);
}

static void ask(struct link *link)
{
    struct peer *peer = link->peer;
    struct rail *rail = link->rail;
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
    struct hello hello = hello_of(rail, link->index);
    roster_address(peer->owner->roster, peer->rank, rail->index, &address,
                   &qual);
    hello.attempt = peer->attempt;
    hello.again = hello_again(link->lost->deaths);
    DAT_RETURN status = dat_ep_connect(
        link->ep, (DAT_IA_ADDRESS_PTR)&address, qual, DAT_TIMEOUT_INFINITE,
        sizeof hello, &hello, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
    link->begun = status == DAT_SUCCESS;
    if (!link->begun)
        failed(link, "dat_ep_connect", status);
}

/* The longer, the more often that was in vain. */
static void wait_for_next(struct link *link)
{
    struct lost *lost = link->lost;
    unsigned longest = LONGEST_MS + link->rail->owner->job->size;
    lost->backoff_ms = lost->backoff_ms ? 2 * lost->backoff_ms : FIRST_MS;
    if (lost->backoff_ms > longest)
        lost->backoff_ms = longest;
    in_ms(link, lost->backoff_ms);
}

static void try_now(struct link *link)
{
    if (link_renew(link)) {
        link_lost(link, DRAIL_EPEER, "%s", link->rail->error.text);
        link->lost->retry_ns = 0; /* also where there is no EP to be lost */
        return;
    }
    in_ms(link, ANSWER_MS);
    ask(link);
    if (link->ep_state == EP_CONNECTING)
        renew_await(link);
}

void renew_serve(struct link *link)
{
    const drail_t *t = link->rail->owner;
    const struct lost *lost = link->lost;
    bool due = job_now(t->job) >= lost->retry_ns;
    if (link->ep_state == EP_CONNECTING && due && is_unanswered(link)) {
        link_lost(link, DRAIL_EPEER, "its new connection was not answered");
        in_ms(link, t->job->size); /* that was long enough, for a few */
    } else if (link->ep_state == EP_NONE && t->job->rank < link->peer->rank) {
        if (!lost->retry_ns)
            wait_for_next(link);
        else if (due)
            try_now(link);
    }
}

bool renew_accept(struct rail *rail, DAT_CR_HANDLE cr, struct peer *peer,
                  const struct hello *hello)
{
    struct link *link = peer_link(peer, rail->index, hello->ep);
    struct hello mine = hello_of(rail, hello->ep);
    if (hello->attempt != peer->attempt || !link || link->state != LINK_LOST ||
        link->ep_state != EP_NONE ||
        hello_again(hello->again) != hello_again(link->lost->deaths) ||
        atomic_load(&peer->error) || peer->ending)
        return false;
    if (link_renew(link)) {
        link_lost(link, DRAIL_EPEER, "%s", rail->error.text);
        return false;
    }
    in_ms(link, ANSWER_MS);
    DAT_RETURN status = request_accept(cr, link, &mine);
    link->begun = status == DAT_SUCCESS;
    if (link->begun)
        renew_await(link);
    else
        failed(link, "dat_cr_accept", status);
    return true;
}
