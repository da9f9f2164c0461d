/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/job/transports.h"

#include "dapl_rail/base/handle.h"

#define SETTLED_MS   20
#define UNSETTLED_MS 1 /* a link is lost: the peer waits for this rank */

void transports_attach(drail_job_t *job, drail_t *t, void (*serve)(drail_t *t))
{
    t->next_open = job->open;
    job->open = t;
    job->serve = serve;
}

void transports_detach(drail_job_t *job, drail_t *t)
{
    drail_t **at = &job->open;
    while (*at && *at != t)
        at = &(*at)->next_open;
    if (*at)
        *at = t->next_open;
}

void drail_set_guard(drail_t *t, const drail_guard_t *guard)
{
    if (t)
        t->guard = guard ? *guard : (drail_guard_t){0};
}

int transports_serve(const drail_job_t *job, int most_ms)
{
    for (drail_t *t = job->open; t; t = t->next_open) {
        if (t->guard.enter && !t->guard.enter(t->guard.context)) {
            most_ms = UNSETTLED_MS; /* its user may release it at once */
            continue;
        }
        job->serve(t);
        if (t->guard.leave)
            t->guard.leave(t->guard.context);
        int ms = atomic_load(&t->unsettled) ? UNSETTLED_MS : SETTLED_MS;
        most_ms = ms < most_ms ? ms : most_ms;
    }
    return most_ms;
}
