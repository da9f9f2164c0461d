/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The resident team: threads (of an OpenMP parallel region) that live as long
 * as the transport. They serve rails 1, 2, … and spin briefly for work, then
 * sleep. The calling thread serves the first rail itself.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/team.h"
#include "dapl_rail/engine/work.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/platform/spin.h"
#include "dapl_rail/rails/locality.h"
#include "dapl_rail/rails/rail.h"

/* An eventcount: one thread advances it, another awaits that. */
struct eventcount {
    _Atomic uint32_t count;
    _Atomic uint32_t sleeping;
};

struct member {
    /* a cache line that the caller writes, and one that the member writes */
    struct eventcount start __attribute__((aligned(CACHE_LINE)));
    struct work *work; /* NULL: end */
    uint32_t seen;     /* the caller has seen so many advances of done */
    struct eventcount done __attribute__((aligned(CACHE_LINE)));
};

struct team {
    struct member members[DRAIL_MAX_RAILS];
    drail_t *t;
    struct platform_threads *threads;
    pid_t process;    /* that has these threads */
    struct spin spin; /* of the caller that joins */
};

static void eventcount_advance(const struct drail_platform *p,
                               struct eventcount *event)
{
    if (p->set) {
        p->set(p, &event->count, atomic_load(&event->count) + 1);
        return;
    }
    atomic_fetch_add(&event->count, 1);
    /* sequentially consistent with the sleeper's store and its second load */
    if (atomic_load(&event->sleeping))
        p->wake(p, &event->count, false);
}

/* Waits until the counter is no longer old. */
static void eventcount_await(struct eventcount *event, uint32_t old,
                             struct spin *spin)
{
    const struct drail_platform *p = spin->platform;
    spin_begin(spin);
    do {
        if (atomic_load_explicit(&event->count, memory_order_acquire) != old)
            goto out;
    } while (spin_more(spin));
    atomic_store(&event->sleeping, 1);
    while (atomic_load(&event->count) == old)
        p->wait(p, &event->count, old, PLATFORM_FOREVER, false);
    atomic_store(&event->sleeping, 0);
out:
    spin_end(spin);
}

static void spin_open(struct spin *spin, const drail_t *t)
{
    spin_init(spin, t->job->platform, SPIN_YIELD_NS, t->env.spin_us * 1000ull);
}

static void member_run(void *arg, unsigned i)
{
    struct team *team = arg;
    unsigned index = i + 1;
    struct member *m = &team->members[index];
    drail_t *t = team->t;
    struct spin spin;
    cpu_set_t before;
    spin_open(&spin, t);
    bool bound = locality_bind(t->rails[index].cpu, &before);
    for (uint32_t n = 0;; n++) {
        eventcount_await(&m->start, n, &spin);
        if (!m->work)
            break;
        work_rail(t, m->work, index);
        eventcount_advance(spin.platform, &m->done);
    }
    /* OpenMP may give this thread to a region of the application next */
    if (bound)
        locality_unbind(&before);
}

int team_open(drail_t *t)
{
    const struct drail_platform *p = t->job->platform;
    if (t->team && t->team->process == getpid())
        return 0;
    team_close(t); /* inherited from the process that forked this one */
    struct team *team = alloc_lines(sizeof *team);
    if (!team)
        return fail(t, DRAIL_ENOMEM, "out of memory");
    team->t = t;
    team->process = getpid();
    spin_open(&team->spin, t);
    if (p->threads_start(p, t->nrails - 1, member_run, team, &team->threads)) {
        free(team);
        return fail(t, DRAIL_ENOMEM, "no OpenMP team of %u threads",
                    t->nrails - 1);
    }
    t->team = team;
    return 0;
}

void team_start(drail_t *t, unsigned index, struct work *work)
{
    struct member *m = &t->team->members[index];
    m->work = work;
    eventcount_advance(t->job->platform, &m->start);
}

void team_join(drail_t *t, unsigned index)
{
    struct member *m = &t->team->members[index];
    eventcount_await(&m->done, m->seen, &t->team->spin);
    m->seen++;
}

void team_close(drail_t *t)
{
    struct team *team = t->team;
    if (!team)
        return;
    for (unsigned r = 1; r < t->nrails; r++)
        team_start(t, r, NULL);
    t->job->platform->threads_join(t->job->platform, team->threads);
    free(team);
    t->team = NULL;
}
