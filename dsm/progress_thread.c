/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/progress_thread.h"

#include <signal.h>
#include <sys/prctl.h>

#include "dsm/base/enter.h"
#include "dsm/sync/pack_server.h"

static void *serve(void *arg)
{
    ddsm_t *d = arg;
    const struct timespec pause = {
        .tv_sec = d->cfg.serve_us / 1000000,
        .tv_nsec = (long)(d->cfg.serve_us % 1000000) * 1000};
    prctl(PR_SET_TIMERSLACK, 1L);
    while (!atomic_load(&d->closing)) {
        space_enter(d);
        /* an error here is one of the rank's next call, too; meanwhile other
         * ranks must still be able to probe this one */
        drail_progress(d->t);
        pack_serve(d);
        space_leave(d);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static bool is_needed(const ddsm_t *d)
{
    bool needed = drail_serves_atomics(d->t);
    for (unsigned i = 0; i < drail_nrails(d->t); i++)
        needed |= drail_rail_at(d->t, i)->is_polled;
    return needed && d->size > 1;
}

int progress_thread_start(ddsm_t *d)
{
    sigset_t all, before;
    if (!is_needed(d))
        return 0;
    if (drail_job_is_simulated(d->job))
        return space_fail(d, DRAIL_ENOTSUP,
                          "atomics by message (DRAIL_EXTENSIONS=0) take a "
                          "thread that serves the others, which simulated "
                          "ranks have not");
    /* signals go to the program's threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    d->has_progress_thread =
        pthread_create(&d->progress_thread, NULL, serve, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return d->has_progress_thread ? 0
                                  : space_fail(d, DRAIL_ENOMEM, "no thread");
}

void progress_thread_stop(ddsm_t *d)
{
    if (!d->has_progress_thread)
        return;
    atomic_store(&d->closing, true);
    pthread_join(d->progress_thread, NULL);
    d->has_progress_thread = false;
}
