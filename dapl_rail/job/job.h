/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's job, however it was started. In reading order:
 *
 *     job.h, job.c   ranks, nodes, all-gather, barrier, interruption
 *     nodes.h        which ranks are on which node
 *     gathered.c     the result of an all-gather, shared by ranks of a process
 *     socket.h       messages over a stream socket within a deadline
 *     transports.h   open transports make progress while the rank waits
 *     launch/        how ranks are started and find each other (launch.h)
 *     rendezvous/    how they connect to rank 0 and prove to belong to the job
 *     supervise/     the server of their all-gathers, which also ends them
 *                    (oob.h, children.h, supervisor.h)
 *     simulate/      ranks in virtual time
 */
#ifndef DRAIL_JOB_JOB_H
#define DRAIL_JOB_JOB_H

#include <stdatomic.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/job/nodes.h"
#include "dapl_rail/platform/platform.h"

#define JOB_GATHER_BYTES 65536u /* largest contribution of a rank */
#define JOB_SIZES_DIFFER "the ranks' contributions differ in length"

/* How ranks of one process share the result of an all-gather: it is the same
 * memory in all of them, until each has released it. */
struct job_share {
    int (*gather)(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms); /* all: void **, set to the result */
    void (*release)(void *context, void *all);
    /* A pointer beside the result, at first NULL, to what one rank computes of
     * it for all ranks. It is freed with the result, by free(). */
    void **(*common)(void *all);
};

struct drail_job {
    unsigned rank, size;
    struct nodes nodes; /* as the caller defines them */
    struct nodes hosts; /* ranks that share memory; first_allgather.h */
    const struct drail_platform *platform;
    drail_allgather_t allgather;
    void *context;                 /* of allgather, and of share */
    const struct job_share *share; /* NULL: each rank has its own process */
    bool joined;                   /* allgather is the caller's */
    int broken;                /* code of the all-gather that failed, or 0 */
    uint64_t id;               /* random, the same on all ranks */
    _Atomic bool stop;         /* this rank is interrupted */
    _Atomic bool *stop_all;    /* all are: in shared memory, or NULL */
    _Atomic bool *ended;       /* each rank's process has: the same, or NULL */
    drail_error_t error;       /* of the last all-gather; it stays if broken */
    drail_t *open;             /* this rank's transports, by next_open … */
    void (*serve)(drail_t *t); /* … and how one of them makes progress */
};

static inline uint64_t job_now(const drail_job_t *job)
{
    return job->platform->now_ns(job->platform);
}

static inline uint64_t job_cpu(const drail_job_t *job)
{
    return job->platform->cpu_ns(job->platform);
}

/* True if this rank knows that the process of that rank has ended. */
static inline bool job_has_ended(const drail_job_t *job, unsigned rank)
{
    return job->ended && atomic_load(&job->ended[rank]);
}

/* Copies the user's data. */
static inline void job_copy(const drail_job_t *job, void *to, const void *from,
                            size_t bytes)
{
    job->platform->copy(job->platform, to, from, bytes);
}

/* Checks the numbers of a configuration. */
int job_config_check(const drail_job_config_t *cfg);
/* Checks a rank and the size of its job. */
int job_place_check(unsigned rank, unsigned size, drail_error_t *err);
uint64_t job_random(const struct drail_platform *p);
/* From the next exchange on, each rank contributes only so many bytes. */
void gathered_shrink(drail_gathered_t *g, size_t bytes);
/* job_share.common of the result; NULL: each rank has its own process. */
void **gathered_common(const drail_gathered_t *g);
/* Runs this all-gather with all checks of drail_job_allgather(). */
int job_gather(drail_job_t *job, drail_allgather_t allgather, const void *mine,
               size_t bytes, void *all, int timeout_ms);
/* The sentence of the all-gather that has just failed with this code. */
const char *job_why(const drail_job_t *job, int code);
/* Raises the limit of open files for the connections of so many ranks. */
void job_reserve_files(unsigned size);

#endif
