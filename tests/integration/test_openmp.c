/* SPDX-License-Identifier: BSD-3-Clause */
/* A caller that uses OpenMP itself, before and beside the library. */
#include <omp.h>
#include <pthread.h>
#include <signal.h>

#include "dapl_rail/platform/platform.h"
#include "ranks.h"
#include "tests/sanitizers.h"

#define THREADS 3
#define PATIENT 30 /* seconds */

/* How many threads of the caller's pool hear the signal. */
static unsigned listeners(void)
{
    unsigned n = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : n)
    {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        n += !sigismember(&mask, SIGUSR1);
    }
    return n;
}

static int use_openmp(drail_job_t *job, void *arg)
{
    return *(const bool *)arg && listeners() != THREADS;
}

/* The threads of a pool are not there in the ranks. */
static bool run_after_a_region(bool also_in_ranks)
{
    drail_job_config_t cfg;
    drail_job_config_init(&cfg);
    return listeners() == THREADS &&
           drail_job_run(&cfg, use_openmp, &also_in_ranks) == 0 &&
           listeners() == THREADS;
}

static bool idle_ranks(void)
{
    return run_after_a_region(false);
}

__attribute__((unused)) static bool busy_ranks(void)
{
    return run_after_a_region(true);
}

static int gather_alone(void *context, const void *mine, size_t bytes,
                        void *all, int timeout_ms)
{
    memcpy(all, mine, bytes);
    return 0;
}

static void look_at_mask(void *arg, unsigned index)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ((bool *)arg)[index] = sigismember(&mask, SIGUSR1);
}

/* The library's threads get no signals; once they are the caller's, they do. */
static bool signals(void)
{
    drail_job_t *job = NULL;
    drail_job_join_t how = {.size = 1, .allgather = gather_alone};
    struct platform_threads *threads;
    bool blocked[THREADS] = {false};
    check(drail_job_join(&how, &job, NULL) == 0);
    const struct drail_platform *p = drail_job_platform(job);
    check(!p->threads_start(p, THREADS, look_at_mask, blocked, &threads));
    p->threads_join(p, threads);
    drail_job_leave(job);
    return blocked[0] && blocked[1] && blocked[2] && listeners() == THREADS;
}

int main(void)
{
    static const struct {
        const char *name;
        bool (*good)(void);
    } all[] = {
        {"signals of threads that were the library's", signals},
        {"ranks that don't use OpenMP", idle_ranks},
#if !TSAN /* where no child of a process with threads has threads */
        {"ranks that do", busy_ranks},
#endif
    };
    bool ok = true;
    alarm(PATIENT);
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        bool good = all[i].good();
        printf("%s %u - %s\n", good ? "ok" : "not ok", i + 1, all[i].name);
        fflush(stdout);
        ok &= good;
    }
    return !ok;
}
