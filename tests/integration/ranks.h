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
    for (double end = seconds() + 60; *ranks_outside < all; nap(1))
        check(seconds() < end);
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
    /* what one still reads, the other must not take away */
    if (!(test->how & FAILS))
        barrier(&r);
    drail_close(r.t);
#ifdef __SANITIZE_ADDRESS__
    /* Ranks that are processes leave by _exit, which does not look for leaks.
     * Those that are threads must not look: what one that ends has left to libc
     * to free, seems to be leaked. */
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
    ranks_outside = mmap(NULL, sizeof *ranks_outside, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(ranks_outside != MAP_FAILED);
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

#define RUN_TESTS(tests)                                                       \
    int main(int argc, char **argv)                                            \
    {                                                                          \
        return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc,       \
                         argv);                                                \
    }

#endif
