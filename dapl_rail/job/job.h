/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank knows of its job, however that was started. */
#ifndef DRAIL_JOB_JOB_H
#define DRAIL_JOB_JOB_H

#include <stdatomic.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/job/nodes.h"
#include "dapl_rail/platform/platform.h"

#define JOB_GATHER_BYTES 65536u /* most that a rank may contribute */

/* All-gathers whose result is the same memory in all ranks, until each has
 * released it. */
struct job_share {
    int (*gather)(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms); /* all: a pointer, which is set */
    void (*release)(void *context, void *all);
    /* Room beside it for what one rank makes of it for all, which is freed by
     * free() with it; NULL at first. */
    void **(*common)(void *all);
};

struct drail_job {
    unsigned rank, size;
    struct nodes nodes; /* as the caller wants them */
    struct nodes hosts; /* whose ranks share memory, as job_greet has found */
    const struct drail_platform *platform;
    drail_allgather_t allgather;
    void *context;                 /* of allgather, and of share */
    const struct job_share *share; /* NULL: the ranks' memory is their own */
    bool joined;                   /* allgather is the caller's */
    int broken;             /* the ranks' all-gathers are out of step: why */
    uint64_t id;            /* random, the same on all ranks */
    _Atomic bool stop;      /* this rank */
    _Atomic bool *stop_all; /* in memory shared by all, or NULL */
    _Atomic bool *ended;    /* the same of each rank's process */
    drail_error_t error;    /* of the last all-gather that failed, if known */
    drail_t *open;          /* this rank's transports, by next_open … */
    void (*serve)(drail_t *t); /* … and what lets one of them go on */
};

static inline uint64_t job_now(const drail_job_t *job)
{
    return job->platform->now_ns(job->platform);
}

static inline uint64_t job_cpu(const drail_job_t *job)
{
    return job->platform->cpu_ns(job->platform);
}

/* Is it known here that the rank's process has ended? */
static inline bool job_has_ended(const drail_job_t *job, unsigned rank)
{
    return job->ended && atomic_load(&job->ended[rank]);
}

/* Of the user's data. */
static inline void job_copy(const drail_job_t *job, void *to, const void *from,
                            size_t bytes)
{
    job->platform->copy(job->platform, to, from, bytes);
}

/* Are its numbers within their limits? */
int job_config_check(const drail_job_config_t *cfg);
uint64_t job_random(const struct drail_platform *p);
/* Less than what it was made for, from the next exchange on. */
void gathered_shrink(drail_gathered_t *g, size_t bytes);
/* That of job_share, after an exchange; NULL: the ranks' memory is their own.
 */
void **gathered_common(const drail_gathered_t *g);
/* By this all-gather, with what is due around it. */
int job_gather(drail_job_t *job, drail_allgather_t allgather, const void *mine,
               size_t bytes, void *all, int timeout_ms);
/* So many ranks' connections must fit into the limit of open files. */
void job_reserve_files(unsigned size);

/*
 * All ranks: the first all-gather of a job, which agrees on its id and finds
 * its hosts. DRAIL_EINVAL also when the ranks do not fit together.
 */
int job_greet(drail_job_t *job, int timeout_ms, drail_error_t *err);

/* Runs the ranks as processes; cfg has been checked. */
int fork_ranks(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
               void *arg);
/* The same in virtual time, in one process. */
int simulate_ranks(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
                   void *arg);

#endif
