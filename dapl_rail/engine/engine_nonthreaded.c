/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seed 004, section 4.3.1 (fig. 4): one thread posts on all rails in turn,
 * then takes the events of all rails. With one rail this is the single-rail
 * engine of section 4.2 (fig. 2).
 */
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/work.h"
#include "dapl_rail/rails/rail.h"

/* A round on these rails; what finds no room stays in *full. */
static int post_round(drail_t *t, struct work *work, unsigned round,
                      uint32_t rails, uint32_t *full)
{
    *full = 0;
    for (; rails; rails &= rails - 1) {
        unsigned r = (unsigned)__builtin_ctz(rails);
        int rc = work->post(&t->rails[r], work->arg, round);
        if (rc == DRAIL_EAGAIN)
            *full |= RAIL_BIT(r);
        else if (rc)
            return rc;
    }
    return 0;
}

int engine_nonthreaded(drail_t *t, struct work *work)
{
    for (unsigned i = 0; i < work->rounds; i++) {
        uint32_t full;
        int rc = post_round(t, work, i, work->rails, &full);
        while (!rc && full) {
            rc = work_await_room(t, work, full);
            if (!rc)
                rc = post_round(t, work, i, full, &full);
        }
        if (rc)
            return rc;
    }
    if (!work->owed)
        return 0;
    return progress_wait(t, work_owed, work, work->timeout_ms);
}
