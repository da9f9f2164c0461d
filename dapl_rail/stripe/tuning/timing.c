/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that can be striped are timed from their call to the completion of
 * the last part. Parts complete in the threads of the rails, which only write
 * down the time. The caller harvests the messages, in order, before it cuts the
 * next one.
 *
 * The time of a message begins at the end of the messages before it, or at its
 * own start if that was later. So rates are right for one message at a time as
 * well as for many under way.
 */
#include <sched.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/rail_rate.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/tuners.h"

/* On one core, threads can't be faster than the caller. */
static bool several_cores(void)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) || CPU_COUNT(&cores) > 1;
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

/*
 * A trial must not change the weights of the champion's rails: a rail may be
 * slower together with others. So a challenger teaches only the rates of rails
 * that the champion leaves out. A single rail needs no weights. A set that is
 * not the tuner's is a stream's, which has no other weights.
 */
uint32_t timing_learns(const drail_t *t, const struct route *route)
{
    uint32_t champion = route->tuner->champion, set = route->set;
    if (!several_rails(set) ||
        (t->cfg.policy != DRAIL_POLICY_ADAPTIVE && !rails_are_wires(t, set)))
        return 0;
    bool other = set == tuner_set(route->tuner) && set != champion &&
                 several_rails(champion) && !((set ^ champion) & WITH_THREADS);
    return other ? set & ~champion : set;
}

void timing_harvest(drail_t *t)
{
    struct timing *k = t->timing;
    for (; k->tail != k->head; k->tail++) {
        struct timed_message *m = &k->ring[k->tail % TIMED_MESSAGES];
        /* acquire: pairs with the release in timing_part() */
        uint64_t end = atomic_load_explicit(&m->end_ns, memory_order_acquire);
        if (!end)
            return;
        uint64_t from = m->start_ns > k->frontier ? m->start_ns : k->frontier;
        if (end > k->frontier)
            k->frontier = end;
        if (m->gap || atomic_load_explicit(&m->failed, memory_order_relaxed))
            continue;
        tuner_measured(m->tuner, m->set, 1, (double)m->bytes,
                       end > from ? (double)(end - from) : 0);
    }
}

uint64_t timing_under_way(const drail_t *t)
{
    const struct rail_rate *rates = t->timing->rails;
    uint64_t bytes = 0;
    for (unsigned r = 0; r < t->nrails; r++)
        bytes += rates[r].given - rates[r].done;
    return bytes;
}

static void give(struct rail_rate *rates, uint64_t bytes, uint64_t now)
{
    if (rates->given == rates->done)
        rates->served_from = now;
    rates->given += bytes;
}

struct timed_message *timing_start(drail_t *t, const struct route *route,
                                   const drail_chunk_t *parts, int n,
                                   unsigned eps, uint64_t start_ns)
{
    uint32_t data = 0;
    struct timing *k = t->timing;
    if (k->head - k->tail == TIMED_MESSAGES) {
        k->gap = true;
        return NULL;
    }
    struct timed_message *m = &k->ring[k->head++ % TIMED_MESSAGES];
    m->tuner = route->tuner;
    m->set = route->set;
    m->slot = route->slot;
    m->learns = timing_learns(t, route);
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
    /* relaxed: handing the parts to the rails' threads orders these */
    atomic_store_explicit(&m->end_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&m->failed, false, memory_order_relaxed);
    atomic_store_explicit(&m->pending, data, memory_order_relaxed);
    return m;
}

void timing_part(drail_t *t, unsigned rail, struct timed_message *m,
                 uint64_t start_ns, uint64_t bytes, bool ok)
{
    struct rail_rate *rates = &t->timing->rails[rail];
    uint32_t bit = RAIL_BIT(rail);
    uint64_t now = job_now(t->job);
    bool idle = start_ns > rates->busy_until;
    uint64_t from = idle ? start_ns : rates->busy_until;
    if (!ok)
        atomic_store_explicit(&m->failed, true, memory_order_relaxed);
    else if (m->learns & bit)
        rail_rate_measure(rates, m->slot, 1, bytes, now - from, idle);
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

void timing_abandon(drail_t *t, struct timed_message *m)
{
    uint32_t left = atomic_load_explicit(&m->pending, memory_order_relaxed);
    for (; left; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        t->timing->rails[r].given -= m->part[r];
    }
    atomic_store_explicit(&m->failed, true, memory_order_relaxed);
    atomic_store_explicit(&m->end_ns, job_now(t->job), memory_order_relaxed);
}

void timing_batch(drail_t *t, struct tuner *tuner, uint32_t set,
                  unsigned messages, uint64_t bytes, uint64_t start_ns)
{
    uint64_t end = job_now(t->job);
    t->timing->frontier = end;
    tuner_measured(tuner, set, messages, (double)bytes * messages,
                   (double)(end - start_ns));
}
