/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seed 004, section 4.3.2 (fig. 5): one OpenMP thread per rail does all of
 * the rail's work: it posts, waits for the rail's event, and joins.
 */
#include "dapl_rail/base/error.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/team.h"
#include "dapl_rail/engine/work.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/platform/spin.h"
#include "dapl_rail/rails/locality.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/tuners.h"

static unsigned nth_rail(uint32_t rails, unsigned n)
{
    while (n--)
        rails &= rails - 1;
    return (unsigned)__builtin_ctz(rails);
}

struct forkjoin {
    drail_t *t;
    struct work *work;
};

static void forkjoin_body(void *arg, unsigned index)
{
    struct forkjoin *f = arg;
    unsigned r = nth_rail(f->work->rails, index);
    work_rail(f->t, f->work, r);
}

/* As in the paper: a parallel region per message. */
static int run_forkjoin(drail_t *t, struct work *work)
{
    const struct drail_platform *p = t->job->platform;
    struct forkjoin f = {.t = t, .work = work};
    unsigned n = (unsigned)__builtin_popcount(work->rails);
    return p->threads_run(p, n, forkjoin_body, &f);
}

/* The caller takes the first rail, the resident team the others. */
static void run_resident(drail_t *t, struct work *work)
{
    unsigned first = (unsigned)__builtin_ctz(work->rails);
    uint32_t others = work->rails & (work->rails - 1);
    for (uint32_t left = others; left; left &= left - 1)
        team_start(t, (unsigned)__builtin_ctz(left), work);
    work_rail(t, work, first);
    for (uint32_t left = others; left; left &= left - 1)
        team_join(t, (unsigned)__builtin_ctz(left));
}

/* There are no threads: an error if the engine was named; `auto` goes on. */
static int without_threads(drail_t *t, struct work *work, int rc)
{
    if (t->cfg.engine != DRAIL_ENGINE_AUTO)
        return rc;
    tuners_without_threads(t);
    route_settle(t);
    return engine_nonthreaded(t, work);
}

int engine_threaded(drail_t *t, struct work *work)
{
    int rc = 0;
    if (!work->rounds) {
        /* if all comes within the spin time, no dispatch is needed */
        rc = progress_spin(t, work_advance, work);
        if (rc) {
            spin_end(&t->spin);
            return rc < 0 ? progress_last_look(t, work_advance, work, rc) : 0;
        }
        work->rails = work->known & ~work->done;
    }
    if (t->cfg.team == DRAIL_TEAM_RESIDENT) {
        rc = team_open(t);
        if (rc)
            return without_threads(t, work, rc);
    }
    t->parallel = true;
    if (t->cfg.team == DRAIL_TEAM_RESIDENT)
        run_resident(t, work);
    else
        rc = run_forkjoin(t, work);
    t->parallel = false;
    if (!work->rounds)
        spin_end(&t->spin);
    if (rc) { /* the caller is in a parallel region of its own */
        fail(t, DRAIL_ENOTSUP,
             "engine threaded, team forkjoin: OpenMP gives fewer than %d "
             "threads here",
             __builtin_popcount(work->rails));
        return without_threads(t, work, DRAIL_ENOTSUP);
    }
    rc = work_result(work);
    if (!rc && work_is_unfinished(work)) {
        work_mark_done(work);
        return engine_nonthreaded(t, work);
    }
    if (!rc || work->rounds)
        return rc;
    work_mark_done(work);
    return progress_last_look(t, work_advance, work, rc);
}
