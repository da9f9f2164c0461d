/* SPDX-License-Identifier: BSD-3-Clause */
/* How the rails are driven. */
#ifndef DRAIL_ENGINE_ENGINE_H
#define DRAIL_ENGINE_ENGINE_H

#include "dapl_rail/engine/progress.h"
#include "dapl_rail/dapl_rail.h"

struct rail;

/*
 * What to do on several rails. post runs `rounds` times per rail, 0 of them
 * if there is nothing to post; then, if owed is given, the rail is waited for
 * and met (may be NULL) runs once.
 */
struct work {
    uint32_t rails;
    bool short_one; /* data on one rail only: not worth a dispatch */
    unsigned rounds;
    int (*post)(struct rail *rail, void *arg, unsigned round);
    owed_t owed;
    int (*met)(struct rail *rail, void *arg);
    void *arg;
    int timeout_ms;
    uint32_t known, done; /* rails that have owed something, that are met */
    int result[DRAIL_MAX_RAILS];
};

int engine_nonthreaded(drail_t *t, struct work *work);
int engine_threaded(drail_t *t, struct work *work);
/* Runs the work as the present engine does. */
int engine_run(drail_t *t, struct work *work);
/* Rails that the present engine uses. */
uint32_t engine_rails(const drail_t *t);
/* The steps of one rail, in the thread that owns it. */
int work_rail(drail_t *t, struct work *work, unsigned index);
/* As work->owed, for one thread that waits for all rails of the work (its
 * argument): every rail that owes nothing any more is met once. */
int work_owed(drail_t *t, void *arg, uint32_t *owed);
int work_result(const struct work *work);

#endif
