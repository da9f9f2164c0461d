/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wire that drops all is told to neither end, and verbs repeat for long what
 * is under way, or for ever. So whoever waits looks, several times within the
 * time of DRAIL_SILENCE_MS, whether each link with work has shown a sign of
 * life since. Only the time counts in which the peer shows some over another
 * link; it is asked there, if need be.
 *
 * Where the provider tells of the wire (health.h), the peer's system shows
 * them: it acknowledges also for a peer that is stopped, and while a long DTO
 * is under way. A question over the link itself gives it something to
 * acknowledge. The default time is longer than TCP delays that (40 ms).
 *
 * Elsewhere events do. Then the peer itself must answer over the other link,
 * for one that is stopped, or computes, takes nothing from a wire either; and
 * the bytes before the event have their time.
 *
 * DTOs without an event owe none: where nothing else does, a question follows
 * them over their own link, as its event tells of all before.
 */
#include "dapl_rail/links/silence.h"

#include "dapl_rail/job/job.h"
#include "dapl_rail/links/ahead.h"
#include "dapl_rail/links/carrier.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/health.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

#define TICK_MS        4u   /* by which the provider's times may be off */
#define LOOK_PART      200u /* looks take at most this part of the time */
#define HEARTBEAT      2u   /* looks without a sign of life, and it is asked */
#define MEASURED_BYTES (64u << 10) /* shorter ones tell of no rate */
/* That a byte takes on a wire that has not been measured (10 MB/s), and at
 * least (100 MB/s): how fast it was does not tell how slow it may become. */
#define UNKNOWN_PS 100000u
#define LEAST_PS   10000u
#define SLOWER     2u /* than it was measured, or than it is said to be: … */
#define SAID       8u /* … what is said is shared with others */

/* ------------------------------------------------------------ one link --- */

static bool has_work(const struct link *link)
{
    return link->ep_state == EP_UP &&
           (link_owes(link) ||
            (link->state == LINK_UP && link->posted != link->retired));
}

static uint64_t ended(const struct link *link)
{
    return link->retired + link->carrier->tail;
}

/* How long the bytes took before an event that has come. */
static void measure(struct silence *s)
{
    if (s->ahead < MEASURED_BYTES)
        return;
    uint64_t now = s->ahead_ns * 1000 / s->ahead, old = s->byte_ps;
    s->byte_ps = now > old / 8 * 7 ? now : old / 8 * 7;
}

static void look_ahead(struct link *link, bool event, uint64_t passed_ns)
{
    struct silence *s = link->silence;
    s->ahead_ns += passed_ns;
    if (event) {
        measure(s);
        s->ahead_ns = 0;
    }
    if (event || !s->ahead)
        s->ahead = s->owed ? link_ahead(link) : 0;
    if (!s->ahead)
        s->ahead_ns = 0;
}

/* Is anything of the program's under way to the peer, or kept for it? Questions
 * and answers owe events, too: where these take longer than the time between
 * two looks, questions would follow one another for ever. */
static bool is_at_work(const struct peer *peer)
{
    const struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at)))
        if (link->state == LINK_LOST ||
            (link->state == LINK_UP && link->posted != link->retired))
            return true;
    return false;
}

/* What has come since the last look, which is so long ago. */
static void observe(struct link *link, uint64_t passed_ns)
{
    struct silence *s = link->silence;
    struct health h = {0};
    bool work = has_work(link), up = link->ep_state == EP_UP;
    if (work)
        h = link_health(link);
    bool event = ended(link) != s->ended;
    bool answered = link->carrier->acked != s->acked;
    bool passed = h.told && h.bytes != s->bytes;
    bool heard = h.silent_ms && h.silent_ms * MS < passed_ns + TICK_MS * MS;
    s->answered[1] = s->answered[0];
    s->answered[0] = up && answered;
    s->alive[1] = s->alive[0];
    s->alive[0] = up && (event || answered || passed || heard);
    s->looks = work && !s->alive[0] ? s->looks + 1 : 0;
    s->ended = ended(link);
    s->acked = link->carrier->acked;
    s->owed = up && link_owes(link);
    s->told = h.told;
    s->owes = h.silent_ms != 0;
    s->answer_ms = h.answer_ms;
    s->bytes = h.told ? h.bytes : s->bytes;
    look_ahead(link, event, passed_ns);
}

/* Has it work, and has shown no sign of life since the last look? */
static bool is_quiet(const struct link *link)
{
    const struct silence *s = link->silence;
    return s->looks && (s->told || s->owed);
}

/* What the peer reads takes the same way as what is posted here. */
static uint64_t time_ahead_ns(const struct link *link)
{
    const struct silence *s = link->silence;
    uint64_t mine = link_ahead(link), its = link->peer->ahead;
    uint64_t bytes = mine > its ? mine : its, ps = SLOWER * s->byte_ps;
    double said = link->rail->info.nominal_MBps;
    if (!s->byte_ps)
        ps = said > 0 && said * UNKNOWN_PS < 1e6 * SAID
                 ? (uint64_t)(1e6 * SAID / said)
                 : UNKNOWN_PS;
    ps = ps > LEAST_PS ? ps : LEAST_PS;
    return (uint64_t)((double)bytes * (double)ps / 1000);
}

static bool is_silent(const struct link *link, uint64_t limit_ns)
{
    const struct silence *s = link->silence;
    if (!is_quiet(link) || s->ns < limit_ns)
        return false;
    uint64_t slow_ns = s->told ? s->answer_ms * MS + limit_ns / 2
                               : limit_ns + time_ahead_ns(link);
    return s->ns >= slow_ns;
}

/* Also when all that has come is taken? Whoever waits may look at other rails
 * first, for as long as something comes there. */
static bool still_silent(const struct link *link)
{
    const struct silence *s = link->silence;
    rail_catch_up(link->rail);
    return has_work(link) && ended(link) == s->ended &&
           (!s->told || link_health(link).bytes == s->bytes);
}

/* --------------------------------------------------------- the questions ---
 */

static bool ask(struct link *way)
{
    const struct wire wire = {.type = WIRE_PROBE,
                              .lane = (uint16_t)lane_number(way)};
    return way->ep_state == EP_UP && carrier_send(way, NULL, 0, &wire, NULL, 0);
}

/* The link that has shown a sign of life, else the one after it. */
static struct link *way_for(const struct peer *peer)
{
    struct link *link, *first = NULL;
    bool after = false;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        bool same = link == peer->probed, alive = link->silence->alive[0];
        if (link->ep_state == EP_UP && (after || (alive && same)))
            return link;
        if (link->ep_state == EP_UP && !first)
            first = link;
        after |= same;
    }
    return first;
}

static void ask_over_another(struct peer *peer)
{
    struct link *way = way_for(peer);
    if (way && is_quiet(way)) { /* it is asked there as well */
        peer->probed = way;
        ask(way);
        way = way_for(peer);
    }
    peer->probed = way;
    if (way)
        ask(way);
}

/* What is posted without an event has been for a while. */
static void ask_behind(struct link *link)
{
    struct silence *s = link->silence;
    bool rests = s->posted == link->posted;
    s->posted = link->posted;
    if (rests && s->asked != link->posted && link->state == LINK_UP &&
        link->posted != link->retired && !s->owed && ask(link))
        s->asked = link->posted;
}

/* ------------------------------------------------------------- all links ---
 */

/* Has another link to the peer shown, since the last look or just before, what
 * this one has not? */
static bool others_live(const struct link *link)
{
    const struct link *other;
    unsigned at = 0;
    bool told = link->silence->told;
    while ((other = peer_next(link->peer, UINT32_MAX, &at))) {
        const struct silence *s = other->silence;
        if (other != link &&
            (s->answered[0] || (told && (s->alive[0] || s->alive[1]))))
            return true;
    }
    return false;
}

static void count(struct link *link, uint64_t passed_ns)
{
    struct silence *s = link->silence;
    if (!is_quiet(link) || (s->told && !s->owes))
        s->ns = 0;
    else if (others_live(link))
        s->ns += passed_ns;
}

/* Does anything depend on what the peer says over another link? */
static bool needs_others(const struct link *link)
{
    return is_quiet(link) && (!link->silence->told || !others_live(link));
}

static void look_at(struct peer *peer, uint64_t limit_ns, uint64_t passed_ns,
                    uint64_t counted_ns)
{
    struct link *link;
    unsigned at = 0;
    bool needed = false;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        if (!link->journal)
            return;
        observe(link, passed_ns);
    }
    bool asks = is_at_work(peer);
    for (at = 0; (link = peer_next(peer, UINT32_MAX, &at));) {
        count(link, counted_ns);
        needed |= needs_others(link);
        if (!link->silence->told)
            ask_behind(link);
        else if (asks && is_quiet(link) &&
                 link->silence->looks % HEARTBEAT == 0)
            ask(link);
        if (!is_silent(link, limit_ns) || !still_silent(link))
            continue;
        link_lost(link, DRAIL_EPEER,
                  "nothing passed for %lu ms, though the peer answered over "
                  "other rails",
                  (unsigned long)(link->silence->ns / MS));
        link_hurry(link);
    }
    if (needed && asks)
        ask_over_another(peer);
    else
        peer->probed = NULL;
}

/* The pause between two looks. Many peers make a look long: then there are
 * fewer, for it to take a small part of the time, but still two. */
static uint64_t pause_ns(const drail_t *t, uint64_t limit_ns)
{
    uint64_t usual = limit_ns / SILENCE_LOOKS, most = limit_ns / 2;
    uint64_t cheap = LOOK_PART * t->look_took_ns;
    return cheap < usual ? usual : cheap < most ? cheap : most;
}

void silence_look(drail_t *t)
{
    uint64_t limit = t->tuning.silence_ms * MS, every = pause_ns(t, limit);
    uint64_t now = limit ? job_now(t->job) : 0;
    uint64_t passed = now - t->looked_ns, counted = passed;
    if (!limit || t->parallel || passed < every)
        return;
    t->looked_ns = now;
    if (passed > 2 * every) /* nobody has looked, perhaps for long */
        counted = every;
    for (struct peer *peer = t->met; peer; peer = peer->next) {
        if (peer->connected && !peer->ending && !atomic_load(&peer->error))
            look_at(peer, limit, passed, counted);
    }
    t->look_took_ns = job_now(t->job) - now;
}
