/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/engine/work.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/rails/rail.h"

/* Argument of link_room_owed(): one of these rails must get room. */
struct room {
    const struct peer *peer;
    uint32_t rails;
};

/* A rail has room if all of its EPs have. */
static int link_room_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct room *room = arg;
    uint32_t ready = room->rails;
    struct link *link;
    (void)t;
    *owed = room->rails;
    for (unsigned at = 0; (link = peer_next(room->peer, room->rails, &at));) {
        int rc = link_room(link);
        if (rc < 0)
            return rc;
        if (!rc)
            ready &= ~RAIL_BIT(link->rail->index);
    }
    return ready != 0;
}

int work_await_room(const struct work *work, uint32_t rails)
{
    struct room room = {.peer = work->peer, .rails = rails};
    return progress_wait_for(work->peer, link_room_owed, &room,
                             work->timeout_ms);
}

static int rail_await_room(struct rail *rail, const struct work *work)
{
    struct room room = {.peer = work->peer, .rails = RAIL_BIT(rail->index)};
    return rail_wait(rail, work->peer, link_room_owed, &room, work->timeout_ms);
}

int work_advance(drail_t *t, void *arg, uint32_t *owed)
{
    struct work *work = arg;
    int rc = work->owed(t, work->arg, owed);
    if (rc < 0)
        return rc;
    work->known |= *owed;
    uint32_t ready = work->known & ~*owed & ~work->done;
    for (; ready; ready &= ready - 1) {
        unsigned r = (unsigned)__builtin_ctz(ready);
        int error = work->finish ? work->finish(&t->rails[r], work->arg) : 0;
        if (error == DRAIL_EAGAIN) {
            *owed |= RAIL_BIT(r);
            rc = 0;
            continue;
        }
        if (error)
            return error;
        work->done |= RAIL_BIT(r);
    }
    return rc;
}

/* The rail's thread has taken the rail, and does its part. */
static int rail_steps(struct rail *rail, struct work *work)
{
    int rc = work_post(rail, work, rail_await_room);
    if (!rc && work->owed)
        rc = rail_wait(rail, work->strict ? NULL : work->peer, work->owed,
                       work->arg, work->timeout_ms);
    if (rc || !work->finish)
        return rc;
    while ((rc = work->finish(rail, work->arg)) == DRAIL_EAGAIN) {
        rc = rail_await_room(rail, work);
        if (rc)
            break;
    }
    return rc;
}

int work_rail(drail_t *t, struct work *work, unsigned index)
{
    const struct drail_platform *platform = t->spin.platform;
    struct rail *rail = &t->rails[index];
    /* another thread may be polling it for a moment */
    while (!rail_take(rail))
        platform->relax(platform);
    int rc = rail_steps(rail, work);
    rail_leave(rail);
    work->result[index] = rc;
    return rc;
}

int work_result(const struct work *work)
{
    for (uint32_t left = work->rails; left; left &= left - 1) {
        int rc = work->result[__builtin_ctz(left)];
        if (rc < 0)
            return rc;
    }
    return 0;
}

void work_mark_done(struct work *work)
{
    for (uint32_t left = work->rails; left; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        if (!work->result[r])
            work->done |= RAIL_BIT(r);
    }
}

bool work_is_unfinished(const struct work *work)
{
    for (uint32_t left = work->rails; left; left &= left - 1)
        if (work->result[__builtin_ctz(left)] == WAIT_LEFT)
            return true;
    return false;
}
