/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the adaptive policy learns from: every message of a size that can be
 * striped is timed from its call to the completion of its last part. Parts
 * complete in the rails' threads, which do no more than leave the time; the
 * caller looks at the messages, in order, before it cuts the next one.
 *
 * A message is held to have been served from the end of those before it, or
 * from its start if that was later: so rates come out right for one message
 * at a time as well as for many under way.
 */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/rates.h"
#include "dapl_rail/stripe/timing.h"

int timing_open(drail_t *t)
{
    t->timing = alloc_lines(sizeof *t->timing);
    if (!t->timing)
        return DRAIL_ENOMEM;
    for (unsigned s = 0; s < TIMED_SLOTS; s++)
        choice_init(&t->timing->choices[s], t->nrails);
    return 0;
}

bool timing_applies(const drail_t *t, size_t bytes)
{
    return t->cfg.policy == DRAIL_POLICY_ADAPTIVE && t->nrails > 1 &&
           t->cfg.engine != DRAIL_ENGINE_SINGLE && bytes &&
           bytes >= t->cfg.stripe_threshold;
}

static unsigned mode(const drail_t *t)
{
    return t->cfg.engine == DRAIL_ENGINE_THREADED ? 1 + t->cfg.team : 0;
}

unsigned timing_slot(const drail_t *t, size_t bytes)
{
    unsigned log2 = bytes ? 63 - (unsigned)__builtin_clzll(bytes) : 0;
    if (log2 >= TIMED_SIZES)
        log2 = TIMED_SIZES - 1;
    return mode(t) * TIMED_SIZES + log2;
}

unsigned timing_latest(const drail_t *t)
{
    return t->timing->latest[mode(t)];
}

/*
 * Trials must not spoil the champion's weights: a rail may be slower in
 * another's company. A rail alone needs none.
 */
uint32_t timing_learns(const drail_t *t, unsigned slot, uint32_t set,
                       uint32_t data)
{
    uint32_t champion = t->timing->choices[slot].champion;
    if (!(data & (data - 1)))
        return 0;
    bool champion_striped = champion & (champion - 1);
    return champion_striped && set != champion ? data & ~champion : data;
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
        choice_measured(&k->choices[m->slot], m->set, 1, (double)m->bytes,
                        end > from ? (double)(end - from) : 0);
    }
}

struct message *timing_start(drail_t *t, size_t bytes, uint32_t data,
                             unsigned eps, uint64_t start_ns)
{
    struct timing *k = t->timing;
    if (k->head - k->tail == TIMED_MESSAGES) {
        k->gap = true;
        return NULL;
    }
    struct message *m = &k->ring[k->head++ % TIMED_MESSAGES];
    m->slot = timing_slot(t, bytes);
    m->set = choice_set(&k->choices[m->slot]);
    m->learns = timing_learns(t, m->slot, m->set, data);
    m->start_ns = start_ns;
    m->bytes = bytes;
    memset(m->left, (int)eps, sizeof m->left);
    m->gap = k->gap;
    k->gap = false;
    if (m->learns)
        k->latest[mode(t)] = m->slot;
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
    uint64_t from = start_ns > rates->busy_until ? start_ns : rates->busy_until;
    if (!ok)
        atomic_store_explicit(&m->failed, true, memory_order_relaxed);
    else if (m->learns & bit)
        rates_measure(rates, m->slot, bytes, now - from);
    rates->busy_until = now;
    t->rails[rail].stats.busy_ns += now - from;
    uint32_t left =
        atomic_fetch_and_explicit(&m->pending, ~bit, memory_order_acq_rel) &
        ~bit;
    if (!left)
        atomic_store_explicit(&m->end_ns, now, memory_order_release);
}

void timing_abandon(drail_t *t, struct message *m)
{
    atomic_store_explicit(&m->failed, true, memory_order_relaxed);
    atomic_store_explicit(&m->end_ns, job_now(t->job), memory_order_relaxed);
}

void timing_batch(drail_t *t, unsigned slot, uint32_t set, unsigned messages,
                  uint64_t bytes, uint64_t start_ns)
{
    uint64_t end = job_now(t->job);
    t->timing->frontier = end;
    choice_measured(&t->timing->choices[slot], set, messages,
                    (double)bytes * messages, (double)(end - start_ns));
}
