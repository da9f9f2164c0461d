/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on several rails, which any engine can run. */
#ifndef DRAIL_ENGINE_WORK_H
#define DRAIL_ENGINE_WORK_H

#include "dapl_rail/engine/progress.h"
#include "dapl_rail/rails/rail.h"

/*
 * On each rail the engine calls `post` for each round (0: nothing to post).
 * Then, if `owed` is given, it waits until the rail owes nothing, and calls
 * `finish` (may be NULL) once. post and finish must not wait: without room on
 * the link to the peer they return DRAIL_EAGAIN, and the engine waits and calls
 * them again.
 */
struct work {
    struct peer *peer;
    uint32_t rails;
    bool threads; /* a thread drives each of several rails; else the caller */
    unsigned rounds;
    int (*post)(struct rail *rail, void *arg, unsigned round);
    owed_t owed;
    int (*finish)(struct rail *rail, void *arg);
    void *arg;
    int timeout_ms;
    bool strict; /* completions of the peer's do not extend the timeout */
    uint32_t known,
        done; /* rails that have owed something, that are finished */
    unsigned round[DRAIL_MAX_RAILS]; /* the next one */
    int result[DRAIL_MAX_RAILS];
};

/* Waits until one of these rails has room. Without threads. */
int work_await_room(const struct work *work, uint32_t rails);
/* Posts the rounds that are left on a rail. @await waits until it has room.
 * Inlined: each put over one rail passes here. */
static inline int work_post(struct rail *rail, struct work *work,
                            int (*await)(struct rail *rail,
                                         const struct work *work))
{
    int rc = 0;
    unsigned *round = &work->round[rail->index];
    while (!rc && *round < work->rounds) {
        rc = work->post(rail, work->arg, *round);
        if (!rc)
            ++*round;
        else if (rc == DRAIL_EAGAIN)
            rc = await(rail, work);
    }
    return rc;
}
/* The steps of one rail, in its own thread. */
int work_rail(drail_t *t, struct work *work, unsigned index);
/* An owed_t for one thread that waits for all rails of the work, its argument:
 * also finishes each rail that owes nothing any more. */
int work_advance(drail_t *t, void *arg, uint32_t *owed);
/* The first error of a rail, or 0. */
int work_result(const struct work *work);
/* The rails that threads have finished are not finished again. */
void work_mark_done(struct work *work);
/* Has a thread left before its rail was finished? */
bool work_is_unfinished(const struct work *work);

#endif
