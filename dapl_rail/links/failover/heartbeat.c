/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/heartbeat.h"

#include "dapl_rail/job/job.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/health.h"
#include "dapl_rail/links/failover/outstanding.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

#define TICK_MS        4u   /* by which the provider's times may be off */
#define CHECK_PART     200u /* checks take at most this part of the time */
#define PROBE_CHECKS   2u   /* checks without a sign of life between probes */
#define MEASURED_BYTES (64u << 10) /* fewer bytes do not show the rate */
/* Picoseconds that a byte is given on a wire that has not been measured
 * (10 MB/s), and at least (100 MB/s): a fast wire may become slow. */
#define UNKNOWN_PS 100000u
#define LEAST_PS   10000u
#define SLOWER     2u /* factor on the measured time, … */
#define NOMINAL    8u /* … and on the nominal one: others may share the wire */

/* ------------------------------------------------------------ one link --- */

static bool has_work(const struct link *link)
{
    const struct queue *q = &link->queue;
    return link->ep.state == EP_UP &&
           (link_awaits_event(link) ||
            (link->state == LINK_UP && q->posted != q->retired));
}

static uint64_t ended(const struct link *link)
{
    return link->queue.retired + link->failover->carrier.tail;
}

/* The awaited event has come: how long did its bytes take? */
static void measure_rate(struct heartbeat *h)
{
    if (h->awaited < MEASURED_BYTES)
        return;
    uint64_t now = h->awaited_ns * 1000 / h->awaited, old = h->byte_ps;
    h->byte_ps = now > old / 8 * 7 ? now : old / 8 * 7;
}

static void observe_bytes(struct link *link, bool event, uint64_t passed_ns)
{
    struct heartbeat *h = &link->failover->heartbeat;
    h->awaited_ns += passed_ns;
    if (event) {
        measure_rate(h);
        h->awaited_ns = 0;
    }
    if (event || !h->awaited)
        h->awaited = h->awaits_event ? link_outstanding(link) : 0;
    if (!h->awaited)
        h->awaited_ns = 0;
}

/* Are requests of operations under other to the peer, or kept for it? Only then
 * probes are sent. Probes and their acknowledgements await events, too: if
 * these take longer than the time between two checks, one probe would follow
 * another for ever. */
static bool is_at_work(const struct peer *peer)
{
    const struct link *link;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
        if (link->state == LINK_LOST ||
            (link->state == LINK_UP &&
             link->queue.posted != link->queue.retired))
            return true;
    return false;
}

/* Compares the link with its state at the last check, @passed_ns ago, and notes
 * every sign of life. */
static void observe(struct link *link, uint64_t passed_ns)
{
    struct heartbeat *h = &link->failover->heartbeat;
    struct health wire = {0};
    bool work = has_work(link), up = link->ep.state == EP_UP;
    uint32_t acked = link->failover->carrier.acked;
    if (work)
        wire = link_health(link);
    bool event = ended(link) != h->ended;
    bool answered = acked != h->acked;
    bool passed = wire.reported && wire.bytes != h->bytes;
    bool heard =
        wire.silent_ms && wire.silent_ms * MS < passed_ns + TICK_MS * MS;
    h->answered[1] = h->answered[0];
    h->answered[0] = up && answered;
    h->alive[1] = h->alive[0];
    h->alive[0] = up && (event || answered || passed || heard);
    h->checks = work && !h->alive[0] ? h->checks + 1 : 0;
    h->ended = ended(link);
    h->acked = acked;
    h->awaits_event = up && link_awaits_event(link);
    h->reported = wire.reported;
    h->owes_ack = wire.silent_ms != 0;
    h->answer_ms = wire.answer_ms;
    h->bytes = wire.reported ? wire.bytes : h->bytes;
    observe_bytes(link, event, passed_ns);
}

/* Has the link work, and has it shown no sign of life since the last check? */
static bool is_quiet(const struct link *link)
{
    const struct heartbeat *h = &link->failover->heartbeat;
    return h->checks && (h->reported || h->awaits_event);
}

/* The time that the bytes before the next event need. What the peer reads takes
 * the same wire as what is posted here. */
static uint64_t time_needed_ns(const struct link *link)
{
    const struct heartbeat *h = &link->failover->heartbeat;
    uint64_t mine = link_outstanding(link), its = link->peer->outstanding;
    uint64_t bytes = mine > its ? mine : its, ps = SLOWER * h->byte_ps;
    double nominal = link->rail->info.nominal_MBps;
    if (!h->byte_ps)
        ps = nominal > 0 && nominal * UNKNOWN_PS < 1e6 * NOMINAL
                 ? (uint64_t)(1e6 * NOMINAL / nominal)
                 : UNKNOWN_PS;
    ps = ps > LEAST_PS ? ps : LEAST_PS;
    return (uint64_t)((double)bytes * (double)ps / 1000);
}

static bool is_silent(const struct link *link, uint64_t limit_ns)
{
    const struct heartbeat *h = &link->failover->heartbeat;
    if (!is_quiet(link) || h->silent_ns < limit_ns)
        return false;
    uint64_t slow_ns = h->reported ? h->answer_ms * MS + limit_ns / 2
                                   : limit_ns + time_needed_ns(link);
    return h->silent_ns >= slow_ns;
}

/* Takes all events of the rail: a wait may leave them for as long as something
 * comes on other rails. Is the link still silent? */
static bool recheck_silence(const struct link *link)
{
    const struct heartbeat *h = &link->failover->heartbeat;
    rail_catch_up(link->rail);
    return has_work(link) && ended(link) == h->ended &&
           (!h->reported || link_health(link).bytes == h->bytes);
}

/* -------------------------------------------------------------- probes --- */

static bool probe(struct link *link)
{
    const struct wire wire = {.type = WIRE_PROBE,
                              .lane = (uint16_t)lane_number(link)};
    return link->ep.state == EP_UP &&
           carrier_send(link, NULL, 0, &wire, NULL, 0);
}

/* The link that was probed last, if it is alive, else the one after it. */
static struct link *next_to_probe(const struct peer *peer)
{
    struct link *link, *first = NULL;
    bool after = false;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));) {
        bool same = link == peer->probed;
        bool alive = link->failover->heartbeat.alive[0];
        if (link->ep.state == EP_UP && (after || (alive && same)))
            return link;
        if (link->ep.state == EP_UP && !first)
            first = link;
        after |= same;
    }
    return first;
}

static void probe_over_another(struct peer *peer)
{
    struct link *other = next_to_probe(peer);
    if (other && is_quiet(other)) { /* it is probed there as well */
        peer->probed = other;
        probe(other);
        other = next_to_probe(peer);
    }
    peer->probed = other;
    if (other)
        probe(other);
}

/* Sends a probe behind requests without an event, when the last one has been
 * posted for a while. */
static void probe_behind(struct link *link)
{
    struct heartbeat *h = &link->failover->heartbeat;
    const struct queue *q = &link->queue;
    bool rests = h->posted == q->posted;
    h->posted = q->posted;
    if (rests && h->probed != q->posted && link->state == LINK_UP &&
        q->posted != q->retired && !h->awaits_event && probe(link))
        h->probed = q->posted;
}

/* ----------------------------------------------------------- all links --- */

/* Has another link to the peer shown the sign of life that this one lacks,
 * since the last check or just before? */
static bool others_live(const struct link *link)
{
    const struct link *other;
    bool reported = link->failover->heartbeat.reported;
    for (unsigned at = 0; (other = peer_next(link->peer, UINT32_MAX, &at));) {
        const struct heartbeat *h = &other->failover->heartbeat;
        if (other != link &&
            (h->answered[0] || (reported && (h->alive[0] || h->alive[1]))))
            return true;
    }
    return false;
}

static void count_silence(struct link *link, uint64_t passed_ns)
{
    struct heartbeat *h = &link->failover->heartbeat;
    if (!is_quiet(link) || (h->reported && !h->owes_ack))
        h->silent_ns = 0;
    else if (others_live(link))
        h->silent_ns += passed_ns;
}

/* Must the peer answer over another link? */
static bool needs_others(const struct link *link)
{
    return is_quiet(link) &&
           (!link->failover->heartbeat.reported || !others_live(link));
}

static void check_peer(struct peer *peer, uint64_t limit_ns, uint64_t passed_ns,
                       uint64_t counted_ns)
{
    struct link *link;
    unsigned at = 0;
    bool needed = false;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        if (!link->journal.records)
            return;
        observe(link, passed_ns);
    }
    bool probes = is_at_work(peer);
    for (at = 0; (link = peer_next(peer, UINT32_MAX, &at));) {
        const struct heartbeat *h = &link->failover->heartbeat;
        count_silence(link, counted_ns);
        needed |= needs_others(link);
        if (!h->reported)
            probe_behind(link);
        else if (probes && is_quiet(link) && h->checks % PROBE_CHECKS == 0)
            probe(link);
        if (!is_silent(link, limit_ns) || !recheck_silence(link))
            continue;
        link_lose(link, DRAIL_EPEER,
                  "nothing passed for %lu ms, though the peer answered over "
                  "other rails",
                  (unsigned long)(h->silent_ns / MS));
        ep_hurry(link);
    }
    if (needed && probes)
        probe_over_another(peer);
    else
        peer->probed = NULL;
}

/* The pause between two checks. With many peers a check takes long: then checks
 * are fewer, so that they take a small part of the time, but still two. */
static uint64_t pause_ns(const drail_t *t, uint64_t limit_ns)
{
    uint64_t usual = limit_ns / HEARTBEAT_CHECKS, most = limit_ns / 2;
    uint64_t cheap = CHECK_PART * t->look_took_ns;
    return cheap < usual ? usual : cheap < most ? cheap : most;
}

void heartbeat_check(drail_t *t)
{
    uint64_t limit = t->env.silence_ms * MS, every = pause_ns(t, limit);
    uint64_t now = limit ? job_now(t->job) : 0;
    uint64_t passed = now - t->looked_ns, counted = passed;
    if (!limit || t->parallel || passed < every)
        return;
    t->looked_ns = now;
    if (passed > 2 * every) /* no check was made, perhaps for long */
        counted = every;
    for (struct peer *peer = t->met; peer; peer = peer->next) {
        if (peer->connected && !peer->ending && !atomic_load(&peer->error))
            check_peer(peer, limit, passed, counted);
    }
    t->look_took_ns = job_now(t->job) - now;
}
