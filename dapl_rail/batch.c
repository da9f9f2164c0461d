/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paper's loop body (seed 004): the initiator of figs. 2, 4 and 5 posts
 * count RDMA writes with completions suppressed and a send on every rail, and
 * waits for the answer on every rail; the other side waits and answers.
 */
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/batch.h"
#include "dapl_rail/engine/ending.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/request.h"
#include "dapl_rail/engine/reserve.h"
#include "dapl_rail/engine/work.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/note.h"
#include "dapl_rail/messages/transfer.h"
#include "dapl_rail/peers.h"
#include "dapl_rail/stripe/spread.h"
#include "dapl_rail/stripe/timing.h"
#include "dapl_rail/stripe/way.h"
#include "dapl_rail/stripe/weights.h"

struct batch {
    drail_batch_t *ask;
    struct note_wait reply;
    struct req req;
    drail_chunk_t chunks[DRAIL_MAX_RAILS]; /* by rail */
    size_t posted[DRAIL_MAX_RAILS];        /* bytes of the present EP's write */
    uint8_t done[DRAIL_MAX_RAILS]; /* EPs that have done the present round */
    uint32_t data;
    struct note note;
    struct way way;
    uint32_t set, learns; /* if timed: what was chosen, and what it tells */
    bool turns;
    struct {
        bool started;
        uint64_t start, posted, cpu;
    } at[DRAIL_MAX_RAILS];
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
static unsigned cpu_mark(const drail_t *t, const struct rail *rail)
{
    return t->parallel ? rail->index : 0;
}

static void account_cpu(const drail_t *t, struct batch *b, struct rail *rail)
{
    uint64_t now = job_cpu(t->job), *mark = &b->at[cpu_mark(t, rail)].cpu;
    if (*mark)
        b->ask->per_rail[rail->index].cpu_ns += now - *mark;
    *mark = now;
}

/* One of the count writes: this rail's chunk, or the whole in its turn; the
 * EP's part of it. */
static int batch_write(struct link *link, struct batch *b, unsigned round,
                       const struct completion *done, const uint32_t *immed)
{
    struct rail *rail = link->rail;
    const drail_t *t = rail->owner;
    const drail_xfer_t *xfer = &b->ask->xfer;
    const drail_chunk_t *chunk = &b->chunks[rail->index];
    drail_chunk_t whole, cut;
    if (b->turns ? round % t->nrails != rail->index
                 : !(b->data & RAIL_BIT(rail->index)))
        return 0;
    if (b->turns) {
        whole = (drail_chunk_t){.bytes = xfer->bytes};
        chunk = &whole;
    }
    chunk = spread_part(t, chunk, b->note.eps, link->index, &cut);
    int rc = rdma_post(link, VERB_WRITE, xfer, chunk, &b->posted[rail->index],
                       done, immed);
    if (rc)
        return rc;
    b->posted[rail->index] = 0;
    rail->stats.puts++;
    rail->stats.put_bytes += chunk->bytes;
    if (b->ask->account)
        b->ask->per_rail[rail->index].bytes += chunk->bytes;
    return 0;
}

/* The last write and the notification in one. */
static bool batch_joint(const struct link *link, const struct batch *b,
                        uint32_t *immed)
{
    return !b->turns && b->ask->count &&
           b->data & RAIL_BIT(link->rail->index) &&
           note_immed(link, &b->note, immed);
}

static int batch_ep(struct link *link, struct batch *b, unsigned round)
{
    unsigned count = b->ask->count;
    uint32_t immed;
    if (round + 1 < count)
        return batch_write(link, b, round, NULL, NULL);
    struct completion done = {.ended = req_part_ended, .req = &b->req};
    const struct completion *end = b->ask->await_reply ? NULL : &done;
    bool joint = batch_joint(link, b, &immed);
    if (round < count)
        return batch_write(link, b, round, joint ? end : NULL,
                           joint ? &immed : NULL);
    return joint ? 0 : note_send(link, &b->note, end);
}

static int batch_round(struct rail *rail, struct batch *b, unsigned round)
{
    uint8_t *done = &b->done[rail->index];
    for (uint32_t left = b->note.eps & ~*done; left; left &= left - 1) {
        unsigned ep = (unsigned)__builtin_ctz(left);
        int rc = batch_ep(b->reply.peer->links[rail->index][ep], b, round);
        if (rc)
            return rc;
        *done |= (uint8_t)EP_BIT(ep);
    }
    *done = 0;
    return 0;
}

/* Rounds 0 to count - 1 write, the last one notifies (fig. 4: the loop over
 * the rails is the inner one). */
static int batch_post(struct rail *rail, void *arg, unsigned round)
{
    struct batch *b = arg;
    const drail_t *t = rail->owner;
    bool last = round == b->ask->count;
    bool account = b->ask->account;
    uint64_t start = account || (!round && b->learns) ? job_now(t->job) : 0;

    if (!round && !b->at[rail->index].started) {
        b->at[rail->index].started = true;
        b->at[rail->index].start = start;
        if (account && !b->at[cpu_mark(t, rail)].cpu)
            b->at[cpu_mark(t, rail)].cpu = job_cpu(t->job);
    }
    int rc = batch_round(rail, b, round);
    if (!account)
        return rc;
    b->at[rail->index].posted = job_now(t->job);
    b->ask->per_rail[rail->index].post_ns += b->at[rail->index].posted - start;
    if (last && !rc)
        account_cpu(t, b, rail);
    return rc;
}

/* The rail's part of the answer has come, or its send is complete. */
static int batch_met(struct rail *rail, void *arg)
{
    struct batch *b = arg;
    const drail_t *t = rail->owner;
    uint64_t now = job_now(t->job);
    if (!(b->note.rails & RAIL_BIT(rail->index)))
        return 0;
    if (b->ask->account) {
        b->ask->per_rail[rail->index].wait_ns +=
            now - b->at[rail->index].posted;
        account_cpu(t, b, rail);
    }
    if (b->learns & RAIL_BIT(rail->index)) {
        uint64_t ns = now - b->at[rail->index].start;
        rates_measure(&t->timing->rails[rail->index], b->way.slot,
                      b->chunks[rail->index].bytes * b->ask->count, ns);
        t->timing->rails[rail->index].busy_until = now;
        rail->stats.busy_ns += ns;
    }
    return 0;
}

/* Which rails carry what; notifications travel over all, but where rails are
 * chosen, which is to do without those that are left out. */
static void batch_cut(drail_t *t, struct batch *b, unsigned *turn)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    drail_chunk_t whole = {.bytes = b->ask->xfer.bytes};
    size_t bytes = b->ask->count ? b->ask->xfer.bytes : 0;
    b->note.rails = engine_rails(t);
    b->way = way_next(t, false, bytes, b->ask->count);
    b->turns = t->cfg.policy == DRAIL_POLICY_ROUNDROBIN &&
               t->cfg.engine != DRAIL_ENGINE_SINGLE;
    if (b->turns) {
        b->note.eps = spread_over(t, whole.bytes, &whole, 1, turn);
        return;
    }
    int n = cut(t, b->ask->xfer.bytes, &b->way, chunks);
    for (int i = 0; i < n; i++) {
        b->chunks[chunks[i].rail] = chunks[i];
        b->data |= RAIL_BIT(chunks[i].rail);
    }
    b->note.eps = spread_over(t, b->ask->xfer.bytes, chunks, n, turn);
    if (b->way.choice || t->cfg.engine == DRAIL_ENGINE_AUTO)
        b->note.rails = b->data;
    if (!b->way.timed)
        return;
    b->set = choice_set(b->way.choice);
    b->learns = timing_learns(t, &b->way, b->data);
}

static void batch_failed(drail_t *t, struct peer *peer, struct batch *b, int rc)
{
    bool started = false;
    for (unsigned r = 0; r < t->nrails; r++)
        started |= b->at[r].started;
    if (started) {
        links_end(t, peer, b->note.rails, rc, "a batch ended in its middle");
        links_forget(peer, b->note.rails, &b->req, NULL);
    } else { /* the engine could not: as if it had not been called */
        links_unreserve(peer, b->note.rails, b->note.eps);
        peer->mail->note_seq--;
    }
}

int drail_batch(drail_t *t, unsigned rank, drail_batch_t *ask)
{
    int rc;
    struct peer *peer = peer_get(t, rank, &rc);
    if (!peer)
        return rc;
    if (!ask)
        return fail(t, DRAIL_EINVAL, "drail_batch: no batch");
    rc = xfer_check(t, &ask->xfer);
    if (rc)
        return rc;

    struct batch b = {.ask = ask, .note.id = ask->id};
    batch_cut(t, &b, &peer->turn);
    /* the answer comes over the same rails, a batch of the peer's own over
     * those of its choice */
    b.reply = (struct note_wait){.peer = peer, .rails = b.note.rails};
    if (b.note.rails != engine_rails(t))
        b.reply.rails |= peer->mail->notes.likely;
    uint64_t start = b.set ? job_now(t->job) : 0;
    req_start(&b.req, peer, b.note.rails,
              (unsigned)__builtin_popcount(b.note.eps));
    struct work work = {
        .peer = peer,
        .rails = b.note.rails,
        .post = batch_post,
        .rounds = ask->count + 1,
        .threads = b.way.threads && (b.turns || several_rails(b.data)),
        .owed = ask->await_reply ? reply_owed : sent_owed,
        .met = ask->account || b.learns ? batch_met : NULL,
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
    if (!rc && b.set)
        timing_batch(t, b.way.choice, b.set, ask->count, ask->xfer.bytes,
                     start);
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
    int rc = note_send(peer->links[rail->index][0], &note, NULL);
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
    struct peer *peer = peer_get(t, rank, &rc);
    if (!peer)
        return rc;
    uint32_t rails =
        peer->mail->notes.likely ? peer->mail->notes.likely : engine_rails(t);
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
        .met = answer_met,
        .arg = &a,
        .timeout_ms = t->cfg.timeout_ms,
    };
    /* over all rails: the question says only later which ones it took */
    rc = answer ? links_reserve(t, peer, RAIL_BIT(t->nrails) - 1, EP_BIT(0),
                                t->cfg.timeout_ms)
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
        links_unreserve(peer, (RAIL_BIT(t->nrails) - 1) & ~a.sent, EP_BIT(0));
    if (rc && a.sent)
        links_end(t, peer, a.sent, rc, "an answer could be sent in part only");
    if (rc)
        return outcome(t, peer, rc, "drail_batch_answer");
    if (answer)
        peer->mail->note_seq++;
    uint32_t value = note_deliver(peer);
    if (id)
        *id = value;
    return 0;
}
