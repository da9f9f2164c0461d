/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frame of the transport's tests: a test is what every rank of a job does;
 * check() in a rank prints and ends it with status 1, which fails the job.
 */
#ifndef TESTS_RANKS_H
#define TESTS_RANKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dapl_rail/dapl_rail.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* A rank with its transport open and connected to all other ranks. */
struct rank {
    drail_job_t *job;
    drail_t *t;
    unsigned rank, size, peer; /* peer: the other one of two */
    uint64_t rng;
};

struct test {
    const char *name;
    unsigned nranks;
    void (*run)(struct rank *r);
    void (*configure)(drail_config_t *cfg); /* or NULL */
    unsigned how;                           /* of these: */
};

enum {
    FAILS = 1, /* the job is meant to fail: run looks at the survivors */
    APART = 2, /* the ranks are not connected */
};
/* So many ranks per node; else all are on one. */
#define PPN(n) ((n) << 8)

#define check(condition) check_at(condition, #condition, __FILE__, __LINE__)
/* A call of the library must return this. */
#define expect(r, code, call)                                                  \
    expect_at(r, call, code, #call, __FILE__, __LINE__)

static inline void check_at(bool ok, const char *what, const char *file,
                            int line)
{
    if (ok)
        return;
    printf("# %s:%d: rank process %d: %s\n", file, line, (int)getpid(), what);
    fflush(stdout);
    _exit(1);
}

static inline void expect_at(struct rank *r, int got, int want,
                             const char *what, const char *file, int line)
{
    if (got == want)
        return;
    printf("# %s:%d: rank %u: %s\n#   is %d (%s), not %d (%s)\n#   %s\n", file,
           line, r->rank, what, got, drail_strerror(got), want,
           drail_strerror(want), drail_last_error(r->t));
    fflush(stdout);
    _exit(1);
}

/* The machine's, also where a test stands in for clock_gettime. */
static inline double seconds(void)
{
    struct timespec ts;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static inline void nap(int ms)
{
    struct timespec ts = {.tv_sec = ms / 1000,
                          .tv_nsec = (ms % 1000) * 1000000L};
    nanosleep(&ts, NULL);
}

/* Naps until the condition holds, for so many seconds at most. */
#define check_within(most_s, condition)                                        \
    for (double end_ = seconds() + (most_s); !(condition); nap(1))             \
    check(seconds() < end_)

/* Of zeros, for the ranks that are forked later. */
static inline void *shared_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(p != MAP_FAILED);
    return p;
}

static inline uint64_t rnd(struct rank *r)
{
    r->rng ^= r->rng << 13;
    r->rng ^= r->rng >> 7;
    r->rng ^= r->rng << 17;
    return r->rng;
}

static inline void barrier(struct rank *r)
{
    check(drail_job_barrier(r->job, -1) == 0);
}

/* Ranks that have come to barrier_outside(); in memory that they share. */
static _Atomic unsigned *ranks_outside;

/* The same, in no call of the library: nothing of the ranks' rails goes on. */
static inline void barrier_outside(struct rank *r)
{
    unsigned come = (*ranks_outside)++;
    unsigned all = come - come % r->size + r->size;
    check_within(60, *ranks_outside >= all);
}

static inline drail_rail_stats_t rail_stats(const struct rank *r, unsigned rail)
{
    drail_rail_stats_t stats;
    drail_rail_stats(r->t, rail, &stats);
    return stats;
}

/* Everybody's keys, by rank. */
static inline void exchange_keys(struct rank *r, const drail_mem_t *mem,
                                 drail_key_t *keys)
{
    drail_key_t mine;
    drail_mem_key(mem, &mine);
    check(drail_job_allgather(r->job, &mine, sizeof mine, keys, -1) == 0);
}

/* The first n rails: those of DRAIL_RAILS, else the embedded ones. */
static inline void take_rails(drail_config_t *cfg, unsigned n)
{
    static const char *const embedded[] = {"shm0", "shm1", "shm2", "shm3"};
    for (unsigned i = cfg->nrails; i < n; i++)
        cfg->rails[i] = embedded[i];
    cfg->nrails = n;
}

/* These rails and no others. */
static inline void set_rails(drail_config_t *cfg, const char *const *names)
{
    for (cfg->nrails = 0; names[cfg->nrails]; cfg->nrails++)
        cfg->rails[cfg->nrails] = names[cfg->nrails];
}
#define use_rails(cfg, ...)                                                    \
    set_rails(cfg, (const char *const[]){__VA_ARGS__, NULL})

/* Settings of many tests. */
static inline void nonthreaded(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static inline void one_rail(drail_config_t *cfg)
{
    take_rails(cfg, 1);
}

static inline int rank_main(drail_job_t *job, void *arg)
{
    const struct test *test = arg;
    struct rank r = {
        .job = job, .rank = drail_job_rank(job), .size = drail_job_size(job)};
    drail_config_t cfg;
    drail_error_t err = {0};
    r.peer = 1 - r.rank;
    r.rng = 0x9e3779b97f4a7c15ull * (r.rank + 1);
    drail_config_init(&cfg);
    take_rails(&cfg, 2);
    if (test->configure)
        test->configure(&cfg);
    if (drail_open(job, &cfg, &r.t, &err)) {
        printf("# rank %u: drail_open: %s\n", r.rank, err.text);
        fflush(stdout);
        return 1;
    }
    for (unsigned p = 0; p < r.size; p++)
        if (p != r.rank && !(test->how & APART))
            expect(&r, 0, drail_connect(r.t, p));
    test->run(&r);
    /* another rank may still read from this one's memory */
    if (!(test->how & FAILS))
        barrier(&r);
    drail_close(r.t);
#ifdef __SANITIZE_ADDRESS__
    /* Ranks that are processes leave by _exit, which does not look for leaks.
     * Ranks that are threads must not look: memory that an ended thread leaves
     * to libc to free seems to be leaked. */
    if (gettid() == getpid())
        check(__lsan_do_recoverable_leak_check() == 0);
#endif
    return 0;
}

/* Of the ranks; NULL: the machine. */
static const struct drail_platform *ranks_platform;

/* Runs the tests whose name contains argv[1]; TAP. Those that a busy machine
 * may disturb get several tries. */
static inline int run_tests(const struct test *tests, size_t n, unsigned tries,
                            int argc, char **argv)
{
    int failed = 0;
    unsigned number = 0;
    ranks_outside = shared_memory(sizeof *ranks_outside);
    for (size_t i = 0; i < n; i++) {
        if (argc > 1 && !strstr(tests[i].name, argv[1]))
            continue;
        drail_error_t err = {0};
        drail_job_config_t cfg;
        drail_job_config_init(&cfg);
        cfg.nranks = tests[i].nranks;
        cfg.ppn = tests[i].how / PPN(1);
        cfg.error = &err;
        cfg.platform = ranks_platform;
        double begin = seconds();
        int rc;
        bool ok;
        unsigned left = tries;
        do {
            *ranks_outside = 0;
            rc = drail_job_run(&cfg, rank_main, (void *)(uintptr_t)&tests[i]);
            ok = tests[i].how & FAILS ? rc == DRAIL_EJOB : rc == 0;
        } while (!ok && --left);
        if (rc)
            printf("# %s\n", err.text);
        printf("%s %u - %s (%.1f s)\n", ok ? "ok" : "not ok", ++number,
               tests[i].name, seconds() - begin);
        fflush(stdout);
        failed += !ok;
    }
    printf("1..%u\n", number);
    return failed || !number;
}

/* setup: an expression that may use argv. */
#define RUN_TESTS_AFTER(setup, tries, tests)                                   \
    int main(int argc, char **argv)                                            \
    {                                                                          \
        setup;                                                                 \
        return run_tests(tests, sizeof tests / sizeof tests[0], tries, argc,   \
                         argv);                                                \
    }
#define RUN_TESTS(tests) RUN_TESTS_AFTER((void)0, 1, tests)

#endif
