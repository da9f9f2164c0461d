/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop body of Cai et al. 2009. The initiator (figs. 2, 4 and 5) posts
 * count RDMA writes with completions suppressed and a send on every rail, then
 * waits for the answer on every rail. The other side waits and answers.
 */
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/batch.h"
#include "dapl_rail/connection.h"
#include "dapl_rail/engine/teardown.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/request.h"
#include "dapl_rail/engine/reserve.h"
#include "dapl_rail/engine/work.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/rdma.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/note.h"
#include "dapl_rail/messages/transfer.h"
#include "dapl_rail/outcome.h"
#include "dapl_rail/stripe/spread.h"
#include "dapl_rail/stripe/tuning/pace.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/cut.h"

/* One rail's part of the batch. The rail's thread writes to it with each post:
 * on lines that no other thread needs. */
struct part {
    drail_chunk_t chunk; /* of each write */
    unsigned writes;     /* how many */
    bool begun;          /* some of it has been posted */
    uint32_t left;       /* EPs that have yet to do the present round */
    uint64_t start, posted, cpu;
    struct rdma rdma[DRAIL_MAX_EPS]; /* the write of each EP, again and again */
} __attribute__((aligned(CACHE_LINE)));

struct batch {
    drail_batch_t *ask;
    struct part *parts; /* by rail; those are filled in that take part */
    struct note_wait reply;
    struct req req;
    struct note note;
    struct route route;
    uint32_t data;        /* rails that write */
    uint32_t set, learns; /* if timed: what was chosen, and what it tells */
    uint64_t cpu;         /* where one thread drives all rails */
};

static int reply_owed(drail_t *t, void *arg, uint32_t *owed)
{
    struct batch *b = arg;
    return note_owed(t, &b->reply, owed);
}

static int sent_owed(drail_t *t, void *arg, uint32_t *owed)
{
    struct batch *b = arg;
    int rc = req_owed(t, &b->req, owed);
    return rc ? rc : atomic_load(&b->reply.peer->error);
}

/* The CPU clock is one per thread: of the rail, or of the only one. */
static uint64_t *cpu_mark(const drail_t *t, struct batch *b, unsigned rail)
{
    return t->parallel ? &b->parts[rail].cpu : &b->cpu;
}

static void account_cpu(const drail_t *t, struct batch *b, unsigned rail)
{
    uint64_t now = job_cpu(t->job), *mark = cpu_mark(t, b, rail);
    b->ask->per_rail[rail].cpu_ns += now - *mark;
    *mark = now;
}

/* Posts a write of the batch. */
static int batch_write(struct rail *rail, struct rdma *write,
                       const struct completion *done, const uint32_t *immed)
{
    int rc = rdma_post(write, done, immed);
    if (rc)
        return rc;
    rail->stats.puts++;
    rail->stats.put_bytes += write->bytes;
    return 0;
}

/* The last write and the notification in one. */
static bool batch_joint(const struct link *link, const struct batch *b,
                        uint32_t *immed)
{
    return b->parts[link->rail->index].writes &&
           note_immed(link, &b->note, immed);
}

/* The last write, and the notification after it or with it. */
static int batch_end(struct rail *rail, struct batch *b, unsigned ep,
                     bool writes)
{
    struct link *link = peer_link(b->reply.peer, rail->index, ep);
    struct completion done = {.ended = req_part_ended, .req = &b->req};
    const struct completion *end = b->ask->await_reply ? NULL : &done;
    uint32_t immed;
    bool joint = batch_joint(link, b, &immed);
    if (writes)
        return batch_write(rail, &b->parts[rail->index].rdma[ep],
                           joint ? end : NULL, joint ? &immed : NULL);
    return joint ? 0 : note_send(link, &b->note, end);
}

/* Rounds 0 to count - 1 write, the last one notifies (fig. 4: the loop over
 * the rails is the inner one). A rail whose share is less than count has
 * nothing to do in some rounds. */
static int batch_post(struct rail *rail, void *arg, unsigned round)
{
    struct batch *b = arg;
    struct part *part = &b->parts[rail->index];
    unsigned count = b->ask->count;
    if (round < count && round >= part->writes)
        return 0;
    for (uint32_t left = part->left; left; left &= left - 1) {
        unsigned ep = (unsigned)__builtin_ctz(left);
        int rc = round + 1 < part->writes
                     ? batch_write(rail, &part->rdma[ep], NULL, NULL)
                     : batch_end(rail, b, ep, round < count);
        part->begun |= !rc || (part->writes && part->rdma[ep].posted);
        if (rc) {
            part->left = left;
            return rc;
        }
    }
    part->left = b->note.eps;
    return 0;
}

static void account_start(const drail_t *t, struct batch *b, unsigned rail)
{
    uint64_t *mark = cpu_mark(t, b, rail);
    b->parts[rail].start = job_now(t->job);
    if (b->ask->account && !*mark)
        *mark = job_cpu(t->job);
}

/* The same with an account of it. */
static int batch_post_timed(struct rail *rail, void *arg, unsigned round)
{
    struct batch *b = arg;
    const drail_t *t = rail->owner;
    struct part *part = &b->parts[rail->index];
    drail_rail_time_t *account = &b->ask->per_rail[rail->index];
    uint64_t bytes = rail->stats.put_bytes;
    bool first = !part->start;
    if (first)
        account_start(t, b, rail->index);
    if (!b->ask->account)
        return batch_post(rail, b, round);
    uint64_t start = first ? part->start : job_now(t->job);
    int rc = batch_post(rail, b, round);
    part->posted = job_now(t->job);
    account->post_ns += part->posted - start;
    account->bytes += rail->stats.put_bytes - bytes;
    if (round == b->ask->count && !rc)
        account_cpu(t, b, rail->index);
    return rc;
}

/* The rail's part of the answer has come, or its send is complete. */
static int batch_met(struct rail *rail, void *arg)
{
    struct batch *b = arg;
    const drail_t *t = rail->owner;
    const struct part *part = &b->parts[rail->index];
    uint64_t now = job_now(t->job);
    if (!(b->note.rails & RAIL_BIT(rail->index)))
        return 0;
    if (b->ask->account) {
        b->ask->per_rail[rail->index].wait_ns += now - part->posted;
        account_cpu(t, b, rail->index);
    }
    if (b->learns & RAIL_BIT(rail->index)) {
        uint64_t ns = now - part->start;
        rail_rate_measure(&t->timing->rails[rail->index], b->route.slot,
                          part->writes, part->chunk.bytes * part->writes, ns,
                          true);
        t->timing->rails[rail->index].busy_until = now;
        if (t->cfg.policy == DRAIL_POLICY_ADAPTIVE)
            rail->stats.busy_ns += ns;
    }
    return 0;
}

/* Which rails carry what; notifications travel over all, but where rails are
 * chosen, which is to do without those that are left out. */
static void batch_cut(drail_t *t, struct batch *b, uint32_t reach,
                      unsigned *turn)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    size_t bytes = b->ask->count ? b->ask->xfer.bytes : 0;
    b->note.rails = engine_rails(t, reach);
    b->route = route_next(t, reach, false, bytes, b->ask->count);
    int n = cut_message(t, b->ask->xfer.bytes, &b->route, chunks);
    for (int i = 0; i < n; i++) {
        b->parts[chunks[i].rail].chunk = chunks[i];
        b->parts[chunks[i].rail].writes = b->ask->count;
        b->data |= RAIL_BIT(chunks[i].rail);
    }
    b->note.eps = spread_over(t, b->ask->xfer.bytes, chunks, n, turn);
    if (b->route.tuner || t->cfg.engine == DRAIL_ENGINE_AUTO)
        b->note.rails = b->data;
    if (!b->route.timed)
        return;
    b->set = b->route.set;
    b->learns = several_rails(b->data) ? timing_learns(t, &b->route) : 0;
}

/* Writes that are not cut: the rails share them, by their weights. */
static void batch_share(drail_t *t, struct batch *b, uint32_t reach,
                        unsigned *turn)
{
    drail_chunk_t whole = {.bytes = b->ask->xfer.bytes};
    uint64_t shares[DRAIL_MAX_RAILS] = {0};
    double weights[DRAIL_MAX_RAILS];
    b->route.slot = cut_whole(t, reach, whole.bytes, weights);
    for (unsigned i = 0; i < b->ask->count; i++)
        shares[soonest_rail(t->nrails, weights, shares)]++;
    for (unsigned r = 0; r < t->nrails; r++) {
        whole.rail = r;
        b->parts[r].chunk = whole;
        b->parts[r].writes = (unsigned)shares[r];
        b->data |= shares[r] ? RAIL_BIT(r) : 0;
    }
    b->note.rails = engine_rails(t, reach);
    b->note.eps = spread_over(t, whole.bytes, &whole, 1, turn);
}

/* Policy roundrobin. */
static void batch_cut_turns(drail_t *t, struct batch *b, uint32_t reach,
                            unsigned *turn)
{
    b->route = route_next(
        t, reach, false, b->ask->count ? b->ask->xfer.bytes : 0, b->ask->count);
    batch_share(t, b, reach, turn);
}

/* Short writes over several wires. */
static void batch_cut_short(drail_t *t, struct batch *b, uint32_t reach,
                            unsigned *turn)
{
    route_is_untimed(t, reach, b->ask->xfer.bytes, &b->route);
    batch_share(t, b, reach, turn);
    if (t->cfg.engine == DRAIL_ENGINE_AUTO)
        b->note.rails = b->data;
    if (t->cfg.policy == DRAIL_POLICY_ADAPTIVE && several_rails(b->data))
        b->learns = b->data;
}

/* Do the rails share its writes, uncut? */
static bool is_short(const drail_t *t, const struct batch *b, uint32_t reach)
{
    size_t bytes = b->ask->xfer.bytes;
    return cut_spreads(t, reach, bytes) && bytes < t->cfg.stripe_threshold &&
           b->ask->count > 1;
}

static void part_prepare(const struct batch *b, unsigned rail,
                         const struct peer *peer)
{
    struct part *part = &b->parts[rail];
    drail_chunk_t cut;
    part->begun = false;
    part->left = b->note.eps;
    part->start = part->cpu = 0;
    for (uint32_t eps = part->writes ? part->left : 0; eps; eps &= eps - 1) {
        unsigned e = (unsigned)__builtin_ctz(eps);
        rdma_init(&part->rdma[e], peer_link(peer, rail, e), VERB_WRITE,
                  &b->ask->xfer,
                  spread_part(peer->owner, &part->chunk, b->note.eps, e, &cut));
    }
}

static void batch_prepare(drail_t *t, struct batch *b, struct peer *peer)
{
    uint32_t reach = peer_reach(peer);
    if (t->cfg.policy == DRAIL_POLICY_ROUNDROBIN &&
        t->cfg.engine != DRAIL_ENGINE_SINGLE)
        batch_cut_turns(t, b, reach, &peer->turn);
    else if (is_short(t, b, reach))
        batch_cut_short(t, b, reach, &peer->turn);
    else
        batch_cut(t, b, reach, &peer->turn);
    for (uint32_t left = b->note.rails; left; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        part_prepare(b, r, peer);
    }
    /* the answer comes over the same rails, a batch of the peer's own over
     * those of its choice */
    b->reply = (struct note_wait){.peer = peer, .rails = b->note.rails};
    if (b->note.rails != engine_rails(t, reach))
        b->reply.rails |= peer->mail->notes.likely;
    req_start(&b->req, peer, b->note.rails,
              (unsigned)__builtin_popcount(b->note.eps));
}

static void batch_failed(drail_t *t, struct peer *peer, struct batch *b, int rc)
{
    bool begun = atomic_load(&peer->error);
    for (uint32_t left = b->note.rails; left; left &= left - 1)
        begun |= b->parts[__builtin_ctz(left)].begun;
    if (begun) {
        links_end(t, peer, rc, "a batch ended in its middle");
        links_forget(peer, b->note.rails, &b->req, NULL);
    } else { /* nothing is on its way: as if it had not been called */
        links_unreserve(peer, b->note.rails, b->note.eps);
        peer->mail->note_seq--;
    }
}

int drail_batch(drail_t *t, unsigned rank, drail_batch_t *ask)
{
    int rc;
    struct peer *peer = peer_get(t, rank, -1, &rc);
    if (!peer)
        return rc;
    if (!ask)
        return fail(t, DRAIL_EINVAL, "drail_batch: no batch");
    rc = xfer_check(t, &ask->xfer);
    if (rc)
        return rc;

    struct part parts[DRAIL_MAX_RAILS];
    for (unsigned r = 0; r < t->nrails; r++)
        parts[r].writes = 0;
    struct batch b = {.ask = ask, .parts = parts, .note.id = ask->id};
    batch_prepare(t, &b, peer);
    bool timed = ask->account || b.learns;
    uint64_t start = b.set ? job_now(t->job) : 0;
    struct work work = {
        .peer = peer,
        .rails = b.note.rails,
        .post = timed ? batch_post_timed : batch_post,
        .rounds = ask->count + 1,
        .threads = b.route.threads && several_rails(b.data),
        .owed = ask->await_reply ? reply_owed : sent_owed,
        .finish = timed ? batch_met : NULL,
        .arg = &b,
        .timeout_ms = t->cfg.timeout_ms,
    };
    rc = links_reserve(t, peer, b.note.rails, b.note.eps, t->cfg.timeout_ms);
    if (rc)
        return outcome(t, peer, rc, "drail_batch");
    b.note.seq = peer->mail->note_seq++;
    rc = engine_run(t, &work);
    /* a part of the answer may still be on its way over a rail of the peer's
     * choice that is not ours */
    if (!rc && ask->await_reply)
        rc = progress_wait(t, note_owed, &b.reply, t->cfg.timeout_ms);
    if (!rc && b.set) {
        timing_batch(t, b.route.tuner, b.set, ask->count, ask->xfer.bytes,
                     start);
        route_settle(t);
    }
    if (!rc && ask->await_reply)
        ask->reply_id = note_deliver(peer);
    if (rc)
        batch_failed(t, peer, &b, rc);
    return outcome(t, peer, rc, "drail_batch");
}

/* ----------------------------------------------------------- other side */

struct answer {
    struct note_wait asked;
    bool wanted;
    uint32_t id, seq;
    _Atomic uint32_t sent; /* rails; on all there is a credit before */
};

static int asked_owed(drail_t *t, void *arg, uint32_t *owed)
{
    struct answer *a = arg;
    return note_owed(t, &a->asked, owed);
}

/* The part of the question on this rail has come: answers on it. */
static int answer_met(struct rail *rail, void *arg)
{
    struct answer *a = arg;
    struct peer *peer = a->asked.peer;
    uint32_t bit = RAIL_BIT(rail->index);
    uint32_t rails = atomic_load_explicit(
        &inbox_next(&peer->mail->notes)->expected, memory_order_relaxed);
    if (!a->wanted || !(rails & bit))
        return 0;
    struct note note = {
        .seq = a->seq, .id = a->id, .rails = rails, .eps = EP_BIT(0)};
    int rc = note_send(peer_link(peer, rail->index, 0), &note, NULL);
    if (!rc)
        atomic_fetch_or(&a->sent, bit);
    return rc;
}

static int answer_post(struct rail *rail, void *arg, unsigned round)
{
    (void)round;
    return answer_met(rail, arg);
}

/* On rails where no part was expected, there may have come one. */
static int answer_rest(drail_t *t, struct answer *a)
{
    struct peer *peer = a->asked.peer;
    uint32_t rails = atomic_load_explicit(
        &inbox_next(&peer->mail->notes)->expected, memory_order_relaxed);
    struct work work = {
        .peer = peer,
        .rails = rails & ~a->sent,
        .rounds = 1,
        .post = answer_post,
        .arg = a,
        .timeout_ms = t->cfg.timeout_ms,
    };
    return a->wanted && work.rails ? engine_run(t, &work) : 0;
}

int drail_batch_answer(drail_t *t, unsigned rank, bool answer,
                       uint32_t answer_id, uint32_t *id)
{
    int rc;
    struct peer *peer = peer_get(t, rank, t ? t->cfg.timeout_ms : 0, &rc);
    if (!peer)
        return rc;
    uint32_t rails = peer->mail->notes.likely
                         ? peer->mail->notes.likely
                         : engine_rails(t, peer_reach(peer));
    struct answer a = {
        .asked = {.peer = peer, .rails = rails},
        .wanted = answer,
        .id = answer_id,
    };
    struct work work = {
        .peer = peer,
        .rails = rails,
        .threads = engine_has_threads(t),
        .owed = asked_owed,
        .finish = answer_met,
        .arg = &a,
        .timeout_ms = t->cfg.timeout_ms,
    };
    /* over all rails: the question says only later which ones it took */
    rc = answer
             ? links_reserve(t, peer, UINT32_MAX, EP_BIT(0), t->cfg.timeout_ms)
             : 0;
    if (rc)
        return outcome(t, peer, rc, "drail_batch_answer");
    a.seq = peer->mail->note_seq;
    rc = engine_run(t, &work);
    if (!rc)
        rc = progress_wait(t, note_owed, &a.asked, t->cfg.timeout_ms);
    if (!rc)
        rc = answer_rest(t, &a);
    if (answer)
        links_unreserve(peer, ~a.sent, EP_BIT(0));
    if (rc && a.sent)
        links_end(t, peer, rc, "an answer could be sent in part only");
    if (rc)
        return outcome(t, peer, rc, "drail_batch_answer");
    if (answer)
        peer->mail->note_seq++;
    uint32_t value = note_deliver(peer);
    if (id)
        *id = value;
    return 0;
}
