/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/engine/engine.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/engine/work.h"

uint32_t engine_rails(const drail_t *t, uint32_t rails)
{
    return t->cfg.engine == DRAIL_ENGINE_SINGLE ? fixed_rail(t, rails) : rails;
}

bool engine_has_threads(const drail_t *t)
{
    return t->cfg.engine == DRAIL_ENGINE_THREADED;
}

int engine_run(drail_t *t, struct work *work)
{
    /* one rail is not worth a dispatch: the caller does it */
    bool team = work->threads && work->rails & (work->rails - 1) &&
                !atomic_load_explicit(&t->unsettled, memory_order_relaxed);
    work->known = work->rails;
    return team ? engine_threaded(t, work) : engine_nonthreaded(t, work);
}
