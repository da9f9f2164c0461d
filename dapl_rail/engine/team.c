/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The resident team: an OpenMP parallel region that lasts as long as the
 * transport. It runs in a helper thread; its members serve rails 1, 2, … and
 * spin briefly for work, then sleep on a futex. The calling thread serves the
 * first rail itself.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/spin.h"
#include "dapl_rail/engine/team.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/rails/locality.h"
#include "dapl_rail/rails/rail.h"

/* A counter that one thread advances and another waits for. */
struct gate {
    _Atomic uint32_t count;
    _Atomic uint32_t sleeping;
};

struct member {
    /* a line that the caller writes, and one that the member writes */
    struct gate start __attribute__((aligned(CACHE_LINE)));
    struct work *work; /* NULL: leave */
    uint32_t seen;     /* of done, by the caller */
    struct gate done __attribute__((aligned(CACHE_LINE)));
};

struct team {
    struct member members[DRAIL_MAX_RAILS];
    drail_t *t;
    pthread_t helper;
    sem_t ready;
    bool complete;
    struct spin spin; /* of the caller that joins */
};

static void gate_pass(struct gate *gate)
{
    atomic_fetch_add(&gate->count, 1);
    /* sequentially consistent with the sleeper's store and second look */
    if (atomic_load(&gate->sleeping))
        syscall(SYS_futex, &gate->count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL,
                NULL, 0);
}

/* Waits until the counter is no longer old. */
static void gate_wait(struct gate *gate, uint32_t old, struct spin *spin)
{
    spin_begin(spin);
    do {
        if (atomic_load_explicit(&gate->count, memory_order_acquire) != old)
            goto out;
    } while (spin_more(spin));
    atomic_store(&gate->sleeping, 1);
    while (atomic_load(&gate->count) == old)
        syscall(SYS_futex, &gate->count, FUTEX_WAIT_PRIVATE, old, NULL, NULL,
                0);
    atomic_store(&gate->sleeping, 0);
out:
    spin_end(spin);
}

static void member_run(struct team *team, unsigned index)
{
    struct member *m = &team->members[index];
    drail_t *t = team->t;
    struct spin spin = {.max_us = t->tuning.spin_us, .us = t->tuning.spin_us};
    locality_bind(t->rails[index].cpu);
    for (uint32_t n = 0;; n++) {
        gate_wait(&m->start, n, &spin);
        if (!m->work)
            return;
        work_rail(t, m->work, index);
        gate_pass(&m->done);
    }
}

static void *team_main(void *arg)
{
    struct team *team = arg;
    int n = (int)team->t->nrails - 1;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(n)
    {
#pragma omp single
        {
            team->complete = omp_get_num_threads() == n;
            sem_post(&team->ready);
        }
        if (team->complete)
            member_run(team, (unsigned)omp_get_thread_num() + 1);
    }
    return NULL;
}

int team_open(drail_t *t)
{
    sigset_t all, old;
    if (t->team)
        return 0;
    struct team *team = aligned_alloc(CACHE_LINE, sizeof *team);
    if (!team)
        return fail(t, DRAIL_ENOMEM, "out of memory");
    memset(team, 0, sizeof *team);
    team->t = t;
    team->spin.max_us = team->spin.us = t->tuning.spin_us;
    sem_init(&team->ready, 0, 0);
    /* signals are for the caller's threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&team->helper, NULL, team_main, team);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!error) {
        while (sem_wait(&team->ready) && errno == EINTR)
            ;
        if (team->complete) {
            t->team = team;
            return 0;
        }
        pthread_join(team->helper, NULL);
    }
    sem_destroy(&team->ready);
    free(team);
    return fail(t, DRAIL_ENOMEM, "no OpenMP team of %u threads", t->nrails - 1);
}

void team_start(drail_t *t, unsigned index, struct work *work)
{
    struct member *m = &t->team->members[index];
    m->work = work;
    gate_pass(&m->start);
}

void team_join(drail_t *t, unsigned index)
{
    struct member *m = &t->team->members[index];
    gate_wait(&m->done, m->seen, &t->team->spin);
    m->seen++;
}

void team_close(drail_t *t)
{
    struct team *team = t->team;
    if (!team)
        return;
    for (unsigned r = 1; r < t->nrails; r++)
        team_start(t, r, NULL);
    pthread_join(team->helper, NULL);
    sem_destroy(&team->ready);
    free(team);
    t->team = NULL;
}
