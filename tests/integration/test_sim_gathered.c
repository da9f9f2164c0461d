/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gathers of simulated ranks use memory that they share. A rank that gives
 * up leaves none of it behind; a rank that finds no memory for it tells all.
 */
#include <sys/resource.h>

#include "dapl_rail/platform/platform.h"
#include "simulated.h"

#define RANKS 256u
#define BYTES (16u << 20) /* of an all-gather: 64 KiB for each rank */
#define SOON  1000000u    /* nanoseconds */
#define BRIEF 10          /* milliseconds */
#define LATER (100 * SOON)

/* Addresses of the one process. */
static size_t mapped(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    check(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static uint64_t now(const drail_job_t *job)
{
    return platform_now(drail_job_platform(job));
}

/* All but one have given up before that one comes. */
static int late_main(drail_job_t *job, void *arg)
{
    unsigned rank = drail_job_rank(job);
    bool late = rank == RANKS - 1;
    drail_gathered_t *all;
    check(drail_gathered_new(job, sizeof rank, &all) == 0);
    drail_job_compute(job, SOON); /* the job has begun everywhere */
    size_t before = mapped();
    drail_job_compute(job, late ? LATER : SOON);
    int rc = drail_gathered_exchange(all, &rank, BRIEF);
    check(rc == (late ? 0 : DRAIL_ETIMEOUT));
    for (unsigned r = 0; late && r < RANKS; r++)
        check(*(const unsigned *)drail_gathered_of(all, r) == r);
    check(!late || mapped() > before + BYTES / 2);
    drail_gathered_free(all);
    check(!late || mapped() < before + BYTES / 2);
    return 0;
}

/* Rank 0 comes first, and has no room. The others would have; nobody waits. */
static int no_memory_main(drail_job_t *job, void *arg)
{
    unsigned rank = drail_job_rank(job);
    drail_gathered_t *all;
    struct rlimit before, limit;
    check(drail_gathered_new(job, sizeof rank, &all) == 0);
    check(!getrlimit(RLIMIT_AS, &before));
    drail_job_compute(job, rank ? 2 * SOON : SOON);
    uint64_t begin = now(job);
    limit = before;
    limit.rlim_cur = rank ? before.rlim_cur : mapped() + BYTES / 2;
    check(!setrlimit(RLIMIT_AS, &limit));
    for (unsigned i = 0; i < 2; i++)
        check(drail_gathered_exchange(all, &rank, BRIEF) == DRAIL_ENOMEM);
    check(!setrlimit(RLIMIT_AS, &before));
    check(now(job) == begin);
    drail_gathered_free(all);
    return 0;
}

/* Different sizes are an error on all ranks, which does no harm. */
static int differ_main(drail_job_t *job, void *arg)
{
    unsigned rank = drail_job_rank(job), all[2 * RANKS] = {0};
    drail_gathered_t *g;
    for (unsigned i = 0; i < 2; i++) {
        size_t bytes = rank == i ? 2 * sizeof rank : sizeof rank;
        check(drail_job_allgather(job, all, bytes, all, BRIEF) == DRAIL_EINVAL);
        check(strstr(drail_job_last_error(job), "differ in length"));
        check(drail_gathered_new(job, bytes, &g) == 0);
        check(drail_gathered_exchange(g, all, BRIEF) == DRAIL_EINVAL);
        drail_gathered_free(g);
        check(drail_job_allgather(job, &rank, sizeof rank, all, BRIEF) == 0);
        for (unsigned r = 0; r < RANKS; r++)
            check(all[r] == r);
    }
    return 0;
}

/* Rank 1 waits for rank 0, which needs its answers to connect. */
static int serve_main(drail_job_t *job, void *arg)
{
    drail_config_t cfg;
    drail_t *t;
    drail_error_t err = {0};
    unsigned rank = drail_job_rank(job);
    drail_config_init(&cfg);
    take_rails(&cfg, 2);
    cfg.rails[0] = "sim0";
    cfg.rails[1] = "sim1";
    int rc = drail_open(job, &cfg, &t, &err);
    if (rc)
        printf("# %s\n", err.text);
    check(rc == 0);
    if (rank == 0)
        rc = drail_connect(t, 1);
    if (rc)
        printf("# %s\n", drail_last_error(t));
    check(rc == 0);
    check(drail_job_barrier(job, -1) == 0);
    drail_close(t);
    return 0;
}

int main(int argc, char **argv)
{
    simulated_or_skip(argv);
    report(simulate("many", RANKS, 4, late_main, NULL) == 0,
           "ranks that have given up leave no memory behind");
    report(simulate("many", RANKS, 4, no_memory_main, NULL) == 0,
           "no memory: all ranks are told at once");
    report(simulate("many", RANKS, 4, differ_main, NULL) == 0,
           "contributions that differ in length: an error on all ranks");
    report(simulate("two-rails", 2, 1, serve_main, NULL) == 0,
           "a rank that waits in an all-gather serves its peers");
    return reported();
}
