/* SPDX-License-Identifier: BSD-3-Clause */
/* What to do on several rails, whichever engine drives them. */
#ifndef DRAIL_ENGINE_WORK_H
#define DRAIL_ENGINE_WORK_H

#include "dapl_rail/engine/progress.h"

/*
 * post runs `rounds` times per rail, 0 of them if there is nothing to post;
 * then, if owed is given, the rail is waited for and met (may be NULL) runs
 * once. Neither waits: for room on their link to the peer, which they ask for
 * by DRAIL_EAGAIN, the engine does, and calls them again.
 */
struct work {
    struct peer *peer;
    uint32_t rails;
    bool threads; /* one drives each of several rails; else the caller */
    unsigned rounds;
    int (*post)(struct rail *rail, void *arg, unsigned round);
    owed_t owed;
    int (*met)(struct rail *rail, void *arg);
    void *arg;
    int timeout_ms;
    bool strict; /* that is the caller's, whatever completes meanwhile */
    uint32_t known, done; /* rails that have owed something, that are met */
    unsigned round[DRAIL_MAX_RAILS]; /* that is next */
    int result[DRAIL_MAX_RAILS];
};

/* Waits for room on the link of one of these rails, in the one thread. */
int work_await_room(const struct work *work, uint32_t rails);
/* The steps of one rail, in its own thread. */
int work_rail(drail_t *t, struct work *work, unsigned index);
/* As work->owed, for one thread that waits for all rails of the work (its
 * argument): every rail that owes nothing any more is met once. */
int work_owed(drail_t *t, void *arg, uint32_t *owed);
int work_result(const struct work *work);
/* The rails whose threads have met them are not met again. */
void work_met(struct work *work);
/* Have threads left before their rails were met? */
bool work_left(const struct work *work);

#endif
