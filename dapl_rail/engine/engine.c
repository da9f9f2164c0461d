/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice of the engine, and the steps of one rail that all engines share. */
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/rails/rail.h"

uint32_t engine_rails(const drail_t *t)
{
    return t->cfg.engine == DRAIL_ENGINE_SINGLE ? RAIL_BIT(t->cfg.fixed_rail)
                                                : RAIL_BIT(t->nrails) - 1;
}

int engine_run(drail_t *t, struct work *work)
{
    /* one rail is not worth a dispatch: the caller does it, as in `single` */
    bool team = t->cfg.engine == DRAIL_ENGINE_THREADED && !work->short_one &&
                work->rails & (work->rails - 1);
    work->known = work->rails;
    return team ? engine_threaded(t, work) : engine_nonthreaded(t, work);
}

int work_owed(drail_t *t, void *arg, uint32_t *owed)
{
    struct work *work = arg;
    int rc = work->owed(t, work->arg, owed);
    if (rc < 0)
        return rc;
    work->known |= *owed;
    uint32_t ready = work->known & ~*owed & ~work->done;
    work->done |= ready;
    for (; ready && work->met; ready &= ready - 1) {
        unsigned r = (unsigned)__builtin_ctz(ready);
        int error = work->met(&t->rails[r], work->arg);
        if (error)
            return error;
    }
    return rc;
}

int work_rail(drail_t *t, struct work *work, unsigned index)
{
    struct rail *rail = &t->rails[index];
    int rc = 0;
    for (unsigned i = 0; !rc && i < work->rounds; i++)
        rc = work->post(rail, work->arg, i);
    if (!rc && work->owed)
        rc = rail_wait(rail, work->owed, work->arg, work->timeout_ms);
    if (!rc && work->met)
        rc = work->met(rail, work->arg);
    work->result[index] = rc;
    return rc;
}

int work_result(const struct work *work)
{
    for (uint32_t left = work->rails; left; left &= left - 1) {
        int rc = work->result[__builtin_ctz(left)];
        if (rc)
            return rc;
    }
    return 0;
}
