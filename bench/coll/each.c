/* SPDX-License-Identifier: BSD-3-Clause */
#include "each.h"
#include "bench/clock.h"

#define EACH_NS     UINT64_C(10000000) /* a repetition lasts about so long */
#define EACH_LEAST  5
#define EACH_MOST   100
#define LATE_NS     UINT64_C(200) /* where every rank has a core */
#define LEAD_MAX_NS UINT64_C(20000000)

bool coll_shares_cores(const crowd_t *crowd)
{
    return clock_elsewhere || crowd->shared;
}

/* Ranks with a core spin. A sleeping rank would leave its core idle, and on
 * virtual processors waking up takes 30 us, which is no part of the call. */
int coll_wait_until(const coll_run_t *run, uint64_t start)
{
    const struct drail_platform *p = drail_job_platform(run->job);
    while (clock_ns() < start) {
        if (drail_job_interrupted(run->job))
            return DRAIL_EINTR;
        if (clock_elsewhere)
            p->sleep_until(p, start);
        else if (run->shares_cores)
            p->yield(p);
    }
    return 0;
}

/* Makes one call. *card: its time on this rank, and whether the rank was late.
 * A rank that shares a core begins when it gets the core; that wait is part of
 * the time. Such a rank is late only if it came after the start. */
static int one(coll_run_t *run, unsigned setup, uint64_t start,
               coll_card_t *card)
{
    uint64_t came = clock_ns();
    int rc = coll_wait_until(run, start);
    uint64_t now = clock_ns();
    if (!rc)
        rc = run->work->perform(run, setup);
    uint64_t ns = clock_ns() - start;
    card->ns = ns ? ns : 1;
    card->missed = came > start;
    card->late = card->missed || (!run->shares_cores && now > start + LATE_NS);
    return rc;
}

uint64_t coll_first_lead(unsigned ranks)
{
    return UINT64_C(100000) + 20000 * (uint64_t)ranks;
}

/* The lead of a common start is doubled when a rank comes after the start, and
 * halved before each series: a long lead lets caches go cold. */
static void lead_begins(coll_run_t *run)
{
    uint64_t first = coll_first_lead(run->ranks);
    run->each_lead_ns /= 2;
    if (run->each_lead_ns < first)
        run->each_lead_ns = first;
}

static unsigned how_many(const coll_run_t *run, uint64_t call_ns)
{
    uint64_t n = EACH_NS / (call_ns + run->each_lead_ns);
    if (run->opts->simulated) /* all alike */
        return 1;
    return n < EACH_LEAST  ? EACH_LEAST
           : n > EACH_MOST ? EACH_MOST
                           : (unsigned)n;
}

static int exchange(coll_run_t *run, unsigned setup, coll_card_t mine,
                    coll_cards_t *all)
{
    return run->opts->simulated
               ? coll_exchange(run, mine, all)
               : coll_exchange_inside(run, coll_bed_of(run, setup)->team, mine,
                                      all);
}

int coll_each(coll_run_t *run, coll_cell_t *cell, uint64_t call_ns,
              hist_t *samples)
{
    unsigned n, got = 0;
    double us[EACH_MOST];
    coll_cards_t all;
    lead_begins(run);
    n = how_many(run, call_ns);
    int rc = exchange(run, cell->setup, (coll_card_t){0}, &all);
    for (unsigned tries = 0; !rc && got < n; tries++) {
        coll_card_t mine = {0};
        rc = one(run, cell->setup, all.now + run->each_lead_ns, &mine);
        if (!rc)
            rc = exchange(run, cell->setup, mine, &all);
        if (rc)
            break;
        bool kept = !all.late || tries >= n; /* after n tries */
        if (kept) {
            us[got++] = (double)all.most_ns / 1e3;
            hist_add(samples, all.most_ns);
        }
        if (all.missed && 2 * run->each_lead_ns <= LEAD_MAX_NS)
            run->each_lead_ns *= 2;
        if (all.late && run->rank == 0)
            kept ? cell->each.kept_late++ : cell->each.late++;
    }
    if (rc || run->rank)
        return rc;
    cell->each.calls += n;
    stats_sort(us, n);
    cell->each.us[cell->each.count++] = stats_quantile(us, n, 0.5);
    return 0;
}
