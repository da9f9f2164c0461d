/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seed 004, section 4.3.1 (fig. 4): one thread posts on all rails in turn,
 * then takes the events of all rails. With one rail this is the single-rail
 * engine of section 4.2 (fig. 2).
 */
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/rails/rail.h"

int engine_nonthreaded(drail_t *t, struct work *work)
{
    for (unsigned i = 0; i < work->rounds; i++)
        for (uint32_t left = work->rails; left; left &= left - 1) {
            unsigned r = (unsigned)__builtin_ctz(left);
            int rc = work->post(&t->rails[r], work->arg, i);
            if (rc)
                return rc;
        }
    if (!work->owed)
        return 0;
    return progress_wait(t, work_owed, work, work->timeout_ms);
}
