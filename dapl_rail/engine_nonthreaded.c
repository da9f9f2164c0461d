/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seed 004, section 4.3.1 (fig. 4): one thread posts on all rails in turn,
 * then takes the events of all rails. With one rail this is the single-rail
 * engine of section 4.2 (fig. 2).
 */
#include "internal.h"

struct waiting {
    struct work *work;
    uint32_t known, met;
};

/* As work->owed; a rail that owes nothing any more is met once. */
static int waiting_owed(drail_t *t, void *arg, uint32_t *owed)
{
    struct waiting *w = arg;
    int rc = w->work->owed(t, w->work->arg, owed);
    if (rc < 0 || !w->work->met)
        return rc;
    w->known |= *owed;
    uint32_t ready = w->known & ~*owed & ~w->met;
    w->met |= ready;
    for (; ready; ready &= ready - 1) {
        unsigned r = (unsigned)__builtin_ctz(ready);
        int error = w->work->met(&t->rails[r], w->work->arg);
        if (error)
            return error;
    }
    return rc;
}

static int run(drail_t *t, struct work *work)
{
    for (uint32_t left = work->rails; left && work->post; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        int rc = work->post(&t->rails[r], work->arg);
        if (rc)
            return rc;
    }
    if (!work->owed)
        return 0;
    struct waiting w = {.work = work, .known = work->rails};
    return progress_wait(t, waiting_owed, &w, work->timeout_ms);
}

const struct engine engine_nonthreaded = {"nonthreaded", run};
