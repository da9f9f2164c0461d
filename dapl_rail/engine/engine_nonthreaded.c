/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seed 004, section 4.3.1 (fig. 4): one thread posts on all rails in turn, then
 * takes the events of all rails. With one rail this is the single-rail engine
 * of section 4.2 (fig. 2).
 */
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/work.h"
#include "dapl_rail/rails/rail.h"

/* Posts a round on *rails. DRAIL_EAGAIN: *rails is set to those without room.
 */
static int post_round(drail_t *t, struct work *work, unsigned round,
                      uint32_t *rails)
{
    uint32_t full = 0;
    for (uint32_t left = *rails; left; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        /* the rail's thread may have posted it before it left */
        int rc = work->round[r] > round
                     ? 0
                     : work->post(&t->rails[r], work->arg, round);
        if (!rc)
            continue;
        if (rc != DRAIL_EAGAIN)
            return rc;
        full |= RAIL_BIT(r);
    }
    *rails = full;
    return full ? DRAIL_EAGAIN : 0;
}

static int await_room(struct rail *rail, const struct work *work)
{
    return work_await_room(work, RAIL_BIT(rail->index));
}

/* On one rail there is nothing to take in turn. */
static int post_on_one(drail_t *t, struct work *work)
{
    unsigned r = (unsigned)__builtin_ctz(work->rails);
    return work_post(&t->rails[r], work, await_room);
}

static int post_in_turn(drail_t *t, struct work *work)
{
    for (unsigned i = 0; i < work->rounds; i++) {
        uint32_t rails = work->rails;
        int rc;
        while ((rc = post_round(t, work, i, &rails)) == DRAIL_EAGAIN) {
            rc = work_await_room(work, rails);
            if (rc)
                break;
        }
        if (rc)
            return rc;
    }
    return 0;
}

int engine_nonthreaded(drail_t *t, struct work *work)
{
    bool several = work->rails & (work->rails - 1);
    int rc = several       ? post_in_turn(t, work)
             : work->rails ? post_on_one(t, work)
                           : 0;
    if (rc || !work->owed)
        return rc;
    return work->strict ? progress_wait(t, work_advance, work, work->timeout_ms)
                        : progress_wait_for(work->peer, work_advance, work,
                                            work->timeout_ms);
}
