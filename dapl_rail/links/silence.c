/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wire that drops all is told to neither end, and verbs repeat for long what
 * is under way, or for ever. So now and then whoever waits looks whether each
 * link that owes an event has had one. Meanwhile the peer is asked over another
 * link, again and again: only the time in which it answers counts, for one that
 * is stopped, or computes, takes nothing from a wire either.
 *
 * DTOs without an event owe none: where nothing else does, a question follows
 * them over their own link, as its event tells of all before.
 */
#include "dapl_rail/links/silence.h"

#include "dapl_rail/job/job.h"
#include "dapl_rail/links/ahead.h"
#include "dapl_rail/links/carrier.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

#define BYTE_NS 100u /* 10 MB/s: the slowest wire that is none */
#define NOTHING UINT64_MAX

/* Changes with each event; NOTHING: none is owed. */
static uint64_t events_of(const struct link *link)
{
    return link->ep_state == EP_UP && link_owes(link)
               ? link->retired + link->carrier->tail
               : NOTHING;
}

/* For longer than a slow wire needs? What the peer reads takes the same way as
 * what is posted here. */
static bool is_silent(const struct link *link, uint64_t limit_ns)
{
    uint64_t mine = link_ahead(link), its = link->peer->ahead;
    uint64_t ns = link->silence->ns;
    return ns > limit_ns &&
           (ns - limit_ns) / BYTE_NS > (mine > its ? mine : its);
}

static bool ask(struct link *way)
{
    const struct wire wire = {.type = WIRE_PROBE,
                              .lane = (uint16_t)lane_number(way)};
    return way->ep_state == EP_UP && carrier_send(way, NULL, 0, &wire, NULL, 0);
}

/* Has the peer answered since the last look? */
static bool is_answered(const struct peer *peer)
{
    const struct link *way = peer->probed;
    return way && way->ep_state == EP_UP &&
           carrier_acknowledged(way, peer->probe);
}

/* The link that has brought an answer, else the one after it. */
static struct link *way_for(const struct peer *peer, bool answered)
{
    struct link *link, *first = NULL;
    bool after = false;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        bool same = link == peer->probed;
        if (link->ep_state == EP_UP && (after || (answered && same)))
            return link;
        if (link->ep_state == EP_UP && !first)
            first = link;
        after |= same;
    }
    return first;
}

static void ask_again(struct peer *peer, bool answered)
{
    struct link *way = way_for(peer, answered);
    bool sent = way && ask(way);
    peer->probed = way;
    if (way) /* or whatever is sent next */
        peer->probe = way->carrier->sent + !sent;
}

/* What is posted without an event has been for a while. */
static void ask_behind(struct link *link)
{
    struct silence *s = link->silence;
    bool rests = s->posted == link->posted;
    s->posted = link->posted;
    if (rests && s->told != link->posted && link->state == LINK_UP &&
        link->posted != link->retired && s->events == NOTHING && ask(link))
        s->told = link->posted;
}

/* Does it owe an event since the last look? */
static bool waits(struct link *link, uint64_t passed_ns, bool answered)
{
    struct silence *s = link->silence;
    uint64_t events = events_of(link);
    bool same = events != NOTHING && events == s->events;
    s->events = events;
    s->ns = !same ? 0 : answered ? s->ns + passed_ns : s->ns;
    return same;
}

/* Also when all that has come is taken? Whoever waits may look at other rails
 * first, for as long as something comes there. */
static bool still_waits(const struct link *link)
{
    rail_catch_up(link->rail);
    return events_of(link) == link->silence->events;
}

static void look_at(struct peer *peer, uint64_t limit_ns, uint64_t passed_ns)
{
    struct link *link;
    unsigned at = 0;
    bool answered = is_answered(peer), any = false;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        if (!link->journal)
            return;
        any |= waits(link, passed_ns, answered);
        ask_behind(link);
        if (is_silent(link, limit_ns) && still_waits(link))
            link_lost(link, DRAIL_EPEER,
                      "nothing came to its end for %lu ms, though the peer "
                      "answered over other rails",
                      (unsigned long)(link->silence->ns / MS));
    }
    if (any)
        ask_again(peer, answered);
    else
        peer->probed = NULL;
}

void silence_look(drail_t *t)
{
    uint64_t limit = t->tuning.silence_ms * MS, every = limit / SILENCE_LOOKS;
    uint64_t now = limit ? job_now(t->job) : 0;
    uint64_t passed = now - t->looked_ns;
    if (!limit || t->parallel || passed < every)
        return;
    t->looked_ns = now;
    if (passed > 2 * every) /* nobody has looked, perhaps for long */
        passed = every;
    for (struct peer *peer = t->met; peer; peer = peer->next) {
        if (peer->connected && !peer->ending && !atomic_load(&peer->error))
            look_at(peer, limit, passed);
    }
}
