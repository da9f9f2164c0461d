/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seed 004, section 4.3.2 (fig. 5): one OpenMP thread per rail does all of
 * the rail's work: it posts, waits for the rail's event, and joins.
 */
#include <omp.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/spin.h"
#include "dapl_rail/engine/team.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/rails/locality.h"
#include "dapl_rail/rails/rail.h"

static unsigned nth_rail(uint32_t rails, unsigned n)
{
    while (n--)
        rails &= rails - 1;
    return (unsigned)__builtin_ctz(rails);
}

/* The paper's way: a parallel region per message. */
static bool run_forkjoin(drail_t *t, struct work *work)
{
    int n = __builtin_popcount(work->rails);
    bool complete = true;
#pragma omp parallel num_threads(n) shared(complete)
    {
        /* with fewer threads one rail would wait for the next one's post */
        if (omp_get_num_threads() == n) {
            unsigned r = nth_rail(work->rails, (unsigned)omp_get_thread_num());
            locality_bind(t->rails[r].cpu);
            work_rail(t, work, r);
        } else {
#pragma omp single
            complete = false;
        }
    }
    return complete;
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

int engine_threaded(drail_t *t, struct work *work)
{
    bool complete = true;
    if (!work->rounds) {
        /* what is about to come is not worth a dispatch */
        int rc = progress_spin(t, work_owed, work);
        if (rc) {
            spin_end(&t->spin);
            return rc < 0 ? rc : 0;
        }
        work->rails = work->known & ~work->done;
    }
    if (t->cfg.team == DRAIL_TEAM_RESIDENT) {
        int rc = team_open(t);
        if (rc)
            return rc;
    }
    t->parallel = true;
    if (t->cfg.team == DRAIL_TEAM_RESIDENT)
        run_resident(t, work);
    else
        complete = run_forkjoin(t, work);
    t->parallel = false;
    if (!work->rounds)
        spin_end(&t->spin);
    if (!complete) /* called within a parallel region of the caller's */
        return fail(t, DRAIL_ENOTSUP,
                    "engine threaded, team forkjoin: OpenMP gives fewer than "
                    "%d threads here",
                    __builtin_popcount(work->rails));
    return work_result(work);
}
