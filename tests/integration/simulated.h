/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame of the tests in virtual time. */
#ifndef TESTS_SIMULATED_H
#define TESTS_SIMULATED_H

#include <limits.h>

#include "ranks.h"
#include "tests/sanitizers.h"

#define SKIPPED 77

/* The sanitizer of addresses may keep a thread's frames elsewhere, and takes
 * those of other stacks for frames that have been left: once more without. */
static inline void addresses_by_frame(char **argv)
{
#ifdef __SANITIZE_ADDRESS__
    static const char off[] = "detect_stack_use_after_return=0";
    const char *now = getenv("ASAN_OPTIONS");
    char all[1024];
    if (now && strstr(now, off))
        return;
    snprintf(all, sizeof all, "%s:%s", now ? now : "", off);
    setenv("ASAN_OPTIONS", all, 1);
    execv("/proc/self/exe", argv);
#endif
}

/* Clusters that are described beside the tests are found by their names. */
static inline void platforms_of_tests(void)
{
    const char *source = getenv("SOURCE");
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/tests/platforms",
             source ? source : ".");
    setenv("DRAIL_SIM_PATH", folder, 1);
}

/* They change stacks under a thread, which its sanitizer knows nothing of. */
static inline void simulated_or_skip(char **argv)
{
    addresses_by_frame(argv);
    platforms_of_tests();
    if (!TSAN)
        return;
    puts("# simulated ranks are no threads");
    exit(SKIPPED);
}

/* Skips where there are no simulated rails. */
static inline int simulate_job(drail_job_config_t *cfg, drail_rank_main_t main,
                               void *arg)
{
    drail_error_t err = {0};
    cfg->error = &err;
    int rc = drail_job_run(cfg, main, arg);
    if (rc)
        printf("# %s\n", err.text);
    if (rc == DRAIL_ENOTSUP)
        exit(SKIPPED);
    cfg->error = NULL;
    return rc;
}

static inline int simulate(const char *platform, unsigned nranks, unsigned ppn,
                           drail_rank_main_t main, void *arg)
{
    drail_job_config_t cfg;
    drail_job_config_init(&cfg);
    cfg.nranks = nranks;
    cfg.ppn = ppn;
    cfg.simulate = platform;
    return simulate_job(&cfg, main, arg);
}

static struct {
    unsigned number, failed;
} reports;

static inline void report(bool ok, const char *what)
{
    printf("%s %u - %s\n", ok ? "ok" : "not ok", ++reports.number, what);
    fflush(stdout);
    reports.failed += !ok;
}

static inline int reported(void)
{
    printf("1..%u\n", reports.number);
    return reports.failed != 0;
}

#endif
