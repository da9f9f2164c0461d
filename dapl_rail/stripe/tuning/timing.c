/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What engine auto and the adaptive policy learn from: messages of a size that
 * can be striped are timed from their call to the completion of the last part.
 * Parts complete in the rails' threads, which do no more than leave the time;
 * the caller looks at the messages, in order, before it cuts the next one.
 *
 * A message is held to have been served from the end of those before it, or
 * from its start if that was later: so rates come out right for one message
 * at a time as well as for many under way.
 */
#include <sched.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/rail_rate.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/way.h"

#define NEAR 2 /* a size is near another by so many powers of two */

/* Rails that the policy may give data to. */
static uint32_t usable(const drail_t *t, unsigned kind)
{
    uint32_t rails = 0;
    for (unsigned r = 0; r < t->nrails; r++)
        if (t->cfg.weights[r] > 0)
            rails |= t->measured & RAIL_BIT(r);
    bool weighted = kind == TIMED_MODES + DRAIL_POLICY_WEIGHTED && rails;
    return weighted ? rails : t->measured;
}

/* On one core, threads can't be faster than the caller. */
static bool several_cores(void)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) || CPU_COUNT(&cores) > 1;
}

/* Adaptive weights follow every message, so none rests. */
static unsigned flags(const struct timing *k, unsigned kind)
{
    if (kind < TIMED_MODES)
        return 0;
    return (k->several_cores && !k->no_threads ? CHOICE_THREADS : 0) |
           (kind == TIMED_MODES + DRAIL_POLICY_ADAPTIVE ? 0 : CHOICE_RESTS);
}

/* All of them begin anew when they are met next. */
static void begin(drail_t *t, unsigned kind)
{
    t->timing->begun[kind]++;
}

int timing_open(drail_t *t)
{
    struct timing *k = pages_new(sizeof *k);
    if (!k)
        return DRAIL_ENOMEM;
    t->timing = k;
    k->several_cores = several_cores();
    k->team = t->cfg.team;
    return 0;
}

void timing_close(drail_t *t)
{
    pages_free(t->timing, sizeof *t->timing);
}

void timing_begin(drail_t *t)
{
    for (unsigned kind = 0; kind < TIMED_KINDS; kind++)
        begin(t, kind);
}

void timing_reset(drail_t *t)
{
    begin(t, TIMED_MODES + DRAIL_POLICY_WEIGHTED);
}

static void begin_auto(drail_t *t)
{
    for (unsigned kind = TIMED_MODES; kind < TIMED_KINDS; kind++)
        begin(t, kind);
}

void timing_team(drail_t *t)
{
    struct timing *k = t->timing;
    if (t->cfg.engine != DRAIL_ENGINE_AUTO || t->cfg.team == k->team)
        return;
    k->team = t->cfg.team;
    k->no_threads = false;
    begin_auto(t);
}

void timing_without_threads(drail_t *t)
{
    t->timing->no_threads = true;
    begin_auto(t);
}

bool timing_applies(const drail_t *t)
{
    if (!several_rails(t->measured) || t->cfg.policy > DRAIL_POLICY_ADAPTIVE)
        return false;
    return t->cfg.engine == DRAIL_ENGINE_AUTO ||
           (t->cfg.engine != DRAIL_ENGINE_SINGLE &&
            t->cfg.policy == DRAIL_POLICY_ADAPTIVE);
}

static unsigned mode(const drail_t *t, bool threads)
{
    return threads ? 1 + t->cfg.team : 0;
}

static unsigned kind(const drail_t *t)
{
    return t->cfg.engine == DRAIL_ENGINE_AUTO
               ? TIMED_MODES + t->cfg.policy
               : mode(t, t->cfg.engine == DRAIL_ENGINE_THREADED);
}

unsigned timing_size(size_t bytes)
{
    unsigned log2 = bytes ? 63 - (unsigned)__builtin_clzll(bytes) : 0;
    return log2 < TIMED_SIZES ? log2 : TIMED_SIZES - 1;
}

struct choice *timing_choice(const drail_t *t, bool reads, unsigned size)
{
    struct timing *k = t->timing;
    unsigned of = kind(t);
    struct choice *c = &k->choices[reads][of][size];
    if (c->begun != k->begun[of]) {
        choice_init(c, usable(t, of), flags(k, of));
        c->begun = k->begun[of];
    }
    return c;
}

unsigned timing_slot(const drail_t *t, bool threads, unsigned size)
{
    return mode(t, threads) * TIMED_SIZES + size;
}

/* The champion of a size that has got one, or 0. */
static uint32_t champion_of(const drail_t *t, bool reads, unsigned size)
{
    const struct choice *c =
        size < TIMED_SIZES ? timing_choice(t, reads, size) : NULL;
    return c && c->settled ? c->champion : 0;
}

static uint32_t champion_near(const drail_t *t, bool reads, unsigned size)
{
    uint32_t champion = 0;
    for (unsigned d = 1; !champion && d <= NEAR; d++) {
        champion = champion_of(t, reads, size - d);
        if (!champion)
            champion = champion_of(t, reads, size + d);
    }
    return champion;
}

void timing_used(drail_t *t, bool reads, unsigned size)
{
    struct choice *choice = timing_choice(t, reads, size);
    t->timing->latest[kind(t)] = size;
    if (choice->rate > 0)
        return;
    uint32_t champion = champion_near(t, reads, size);
    if (champion)
        choice_adopt(choice, champion);
}

unsigned timing_latest(const drail_t *t)
{
    return t->timing->latest[kind(t)];
}

/*
 * Trials must not spoil the champion's weights: a rail may be slower in
 * another's company. A rail alone needs none. What is not the choice's is a
 * stream's: that has no other weights.
 */
uint32_t timing_learns(const drail_t *t, const struct way *way)
{
    uint32_t champion = way->choice->champion, set = way->set;
    if (t->cfg.policy != DRAIL_POLICY_ADAPTIVE || !several_rails(set))
        return 0;
    bool other = set == choice_set(way->choice) && set != champion &&
                 several_rails(champion) && !((set ^ champion) & WITH_THREADS);
    return other ? set & ~champion : set;
}

void timing_harvest(drail_t *t)
{
    struct timing *k = t->timing;
    for (; k->tail != k->head; k->tail++) {
        struct message *m = &k->ring[k->tail % TIMED_MESSAGES];
        /* acquire: what the parts have left is seen after their end */
        uint64_t end = atomic_load_explicit(&m->end_ns, memory_order_acquire);
        if (!end)
            return;
        uint64_t from = m->start_ns > k->frontier ? m->start_ns : k->frontier;
        if (end > k->frontier)
            k->frontier = end;
        if (m->gap || atomic_load_explicit(&m->failed, memory_order_relaxed))
            continue;
        choice_measured(m->choice, m->set, 1, (double)m->bytes,
                        end > from ? (double)(end - from) : 0);
    }
}

uint64_t timing_under_way(const drail_t *t)
{
    const struct rates *rates = t->timing->rails;
    uint64_t bytes = 0;
    for (unsigned r = 0; r < t->nrails; r++)
        bytes += rates[r].given - rates[r].done;
    return bytes;
}

static void give(struct rates *rates, uint64_t bytes, uint64_t now)
{
    if (rates->given == rates->done)
        rates->served_from = now;
    rates->given += bytes;
}

struct message *timing_start(drail_t *t, const struct way *way,
                             const drail_chunk_t *parts, int n, unsigned eps,
                             uint64_t start_ns)
{
    uint32_t data = 0;
    struct timing *k = t->timing;
    if (k->head - k->tail == TIMED_MESSAGES) {
        k->gap = true;
        return NULL;
    }
    struct message *m = &k->ring[k->head++ % TIMED_MESSAGES];
    m->choice = way->choice;
    m->set = way->set;
    m->slot = way->slot;
    m->learns = timing_learns(t, way);
    m->start_ns = start_ns;
    m->bytes = 0;
    for (int i = 0; i < n; i++) {
        m->bytes += m->part[parts[i].rail] = parts[i].bytes;
        give(&k->rails[parts[i].rail], parts[i].bytes, start_ns);
        data |= RAIL_BIT(parts[i].rail);
    }
    memset(m->left, (int)eps, sizeof m->left);
    m->gap = k->gap;
    k->gap = false;
    /* the rails' threads get to know of it by their dispatch */
    atomic_store_explicit(&m->end_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&m->failed, false, memory_order_relaxed);
    atomic_store_explicit(&m->pending, data, memory_order_relaxed);
    return m;
}

void timing_part(drail_t *t, unsigned rail, struct message *m,
                 uint64_t start_ns, uint64_t bytes, bool ok)
{
    struct rates *rates = &t->timing->rails[rail];
    uint32_t bit = RAIL_BIT(rail);
    uint64_t now = job_now(t->job);
    bool idle = start_ns > rates->busy_until;
    uint64_t from = idle ? start_ns : rates->busy_until;
    if (!ok)
        atomic_store_explicit(&m->failed, true, memory_order_relaxed);
    else if (m->learns & bit)
        rates_measure(rates, m->slot, 1, bytes, now - from, idle);
    rates->busy_until = rates->served_from = now;
    rates->done += bytes;
    if (t->cfg.policy == DRAIL_POLICY_ADAPTIVE)
        t->rails[rail].stats.busy_ns += now - from;
    uint32_t left =
        atomic_fetch_and_explicit(&m->pending, ~bit, memory_order_acq_rel) &
        ~bit;
    if (!left)
        atomic_store_explicit(&m->end_ns, now, memory_order_release);
}

void timing_abandon(drail_t *t, struct message *m)
{
    uint32_t left = atomic_load_explicit(&m->pending, memory_order_relaxed);
    for (; left; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        t->timing->rails[r].given -= m->part[r];
    }
    atomic_store_explicit(&m->failed, true, memory_order_relaxed);
    atomic_store_explicit(&m->end_ns, job_now(t->job), memory_order_relaxed);
}

void timing_batch(drail_t *t, struct choice *choice, uint32_t set,
                  unsigned messages, uint64_t bytes, uint64_t start_ns)
{
    uint64_t end = job_now(t->job);
    t->timing->frontier = end;
    choice_measured(choice, set, messages, (double)bytes * messages,
                    (double)(end - start_ns));
}
