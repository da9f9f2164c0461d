/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a job that are the same however its ranks were started. */
#include <limits.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/platform/files.h"

#define GRACE_MS   2000
#define CONNECT_MS 30000

void drail_job_config_init(drail_job_config_t *cfg)
{
    *cfg = (drail_job_config_t){.nranks = DRAIL_RANKS_AUTO,
                                .grace_ms = GRACE_MS,
                                .rank = DRAIL_RANKS_AUTO,
                                .connect_ms = CONNECT_MS};
}

int job_config_check(const drail_job_config_t *cfg)
{
    bool ranks = cfg->nranks == DRAIL_RANKS_AUTO ||
                 (cfg->nranks >= 1 && cfg->nranks <= DRAIL_MAX_RANKS);
    if (cfg->hollow && !cfg->simulate)
        return error_set(cfg->error, DRAIL_EINVAL,
                         "a job without payload: allowed are simulated ranks");
    return ranks && cfg->grace_ms >= 0 && cfg->connect_ms >= 0
               ? 0
               : error_set(cfg->error, DRAIL_EINVAL,
                           "%u ranks, grace %d ms, connect %d ms: allowed are "
                           "1 to %u ranks and times of 0 or more",
                           cfg->nranks, cfg->grace_ms, cfg->connect_ms,
                           DRAIL_MAX_RANKS);
}

int job_place_check(unsigned rank, unsigned size, drail_error_t *err)
{
    if (size >= 1 && size <= DRAIL_MAX_RANKS && rank < size)
        return 0;
    return error_set(err, DRAIL_EINVAL,
                     "rank %u of %u: allowed are 1 to %u ranks, counted from 0",
                     rank, size, DRAIL_MAX_RANKS);
}

unsigned drail_job_rank(const drail_job_t *job)
{
    return job->rank;
}

unsigned drail_job_size(const drail_job_t *job)
{
    return job->size;
}

unsigned drail_job_nodes(const drail_job_t *job)
{
    return job->nodes.count;
}

unsigned drail_job_node(const drail_job_t *job, unsigned rank)
{
    return rank < job->size ? job->nodes.node[rank] : UINT_MAX;
}

unsigned drail_job_local_rank(const drail_job_t *job, unsigned rank)
{
    return rank < job->size ? job->nodes.local[rank] : UINT_MAX;
}

unsigned drail_job_local_size(const drail_job_t *job, unsigned rank)
{
    return rank < job->size ? job->nodes.ranks[job->nodes.node[rank]] : 0;
}

unsigned drail_job_ppn(const drail_job_t *job)
{
    unsigned most = 0;
    for (unsigned n = 0; n < job->nodes.count; n++)
        most = job->nodes.ranks[n] > most ? job->nodes.ranks[n] : most;
    return most;
}

const struct drail_platform *drail_job_platform(const drail_job_t *job)
{
    return job->platform;
}

const char *drail_job_last_error(const drail_job_t *job)
{
    return job->error.text;
}

const char *job_why(const drail_job_t *job, int code)
{
    return job->error.code ? job->error.text : drail_strerror(code);
}

bool drail_job_interrupted(const drail_job_t *job)
{
    return atomic_load_explicit(&job->stop, memory_order_acquire) ||
           (job->stop_all &&
            atomic_load_explicit(job->stop_all, memory_order_acquire));
}

void drail_job_interrupt(drail_job_t *job)
{
    atomic_store_explicit(&job->stop, true, memory_order_release);
}

uint64_t job_random(const struct drail_platform *p)
{
    uint64_t value;
    if (getrandom(&value, sizeof value, 0) != sizeof value)
        value = platform_now(p) ^ (uint64_t)getpid() << 32;
    return value;
}

void job_reserve_files(unsigned size)
{
    struct rlimit limit;
    /* over all rails, and sockets for the all-gathers */
    rlim_t need = size * (1 + FILES_PER_LINK * DRAIL_MAX_RAILS) + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
        return;
    limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int drail_job_allgather(drail_job_t *job, const void *mine, size_t bytes,
                        void *all, int timeout_ms)
{
    if (!job)
        return DRAIL_EINVAL;
    return job_gather(job, job->allgather, mine, bytes, all, timeout_ms);
}

int job_gather(drail_job_t *job, drail_allgather_t allgather, const void *mine,
               size_t bytes, void *all, int timeout_ms)
{
    if (job->broken)
        return job->broken;
    job->error = (drail_error_t){0};
    if (bytes > JOB_GATHER_BYTES || (bytes && (!mine || !all)))
        return error_set(&job->error, DRAIL_EINVAL,
                         "an all-gather of %zu bytes%s: allowed are up to %u "
                         "bytes, and no NULL",
                         bytes, mine && all ? "" : " at NULL",
                         JOB_GATHER_BYTES);
    if (!bytes)
        return drail_job_barrier(job, timeout_ms);
    if (timeout_ms < 0) {
        drail_config_t cfg;
        drail_config_init(&cfg);
        timeout_ms = cfg.timeout_ms;
    }
    int rc = drail_job_interrupted(job)
                 ? DRAIL_EINTR
                 : allgather(job->context, mine, bytes, all, timeout_ms);
    if (rc > 0 || rc < DRAIL_ETRUNC) /* not a DRAIL_E… */
        rc = DRAIL_EPEER;
    /* after contributions of different sizes the ranks are still in step, with
     * our own all-gather; after any other failure they may not be */
    if (rc && (rc != DRAIL_EINVAL || job->joined))
        job->broken = rc;
    return rc;
}

void drail_job_compute(const drail_job_t *job, uint64_t ns)
{
    if (job && job->platform->compute)
        job->platform->compute(job->platform, ns);
}

bool drail_job_is_simulated(const drail_job_t *job)
{
    return platform_is_simulated(job->platform);
}

int drail_job_barrier(drail_job_t *job, int timeout_ms)
{
    /* an all-gather of 0 bytes need not synchronise */
    unsigned char mine = 0, all[DRAIL_MAX_RANKS];
    return drail_job_allgather(job, &mine, sizeof mine, all, timeout_ms);
}
