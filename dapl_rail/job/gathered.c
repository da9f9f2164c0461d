/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of an all-gather, in memory that ranks of one process share. */
#include <stdlib.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"

struct drail_gathered {
    drail_job_t *job; /* dangling after drail_job_leave() */
    size_t bytes;     /* of each rank, … */
    size_t most;      /* … and what is allocated for each */
    unsigned ranks;
    void *all;
    const struct job_share *share; /* copied: the job may be left */
    void *context;
};

/* The sentence of a job that is broken stays. */
static int failed(drail_job_t *job, int code, const char *why)
{
    return error_set(job->broken ? NULL : &job->error, code, "%s", why);
}

int drail_gathered_new(drail_job_t *job, size_t bytes, drail_gathered_t **out)
{
    if (!job)
        return DRAIL_EINVAL;
    if (!out || !bytes || bytes > JOB_GATHER_BYTES)
        return failed(job, DRAIL_EINVAL,
                      "drail_gathered_new: allowed are 1 to 65536 bytes, and "
                      "no NULL");
    drail_gathered_t *g = calloc(1, sizeof *g);
    if (!g)
        return failed(job, DRAIL_ENOMEM, "out of memory");
    *g = (drail_gathered_t){job,  bytes,      bytes,       job->size,
                            NULL, job->share, job->context};
    if (!g->share && !(g->all = pages_new(job->size * bytes))) {
        free(g);
        return failed(job, DRAIL_ENOMEM, "out of memory");
    }
    *out = g;
    return 0;
}

void gathered_shrink(drail_gathered_t *g, size_t bytes)
{
    g->bytes = bytes;
}

void **gathered_common(const drail_gathered_t *g)
{
    return g->share ? g->share->common(g->all) : NULL;
}

int drail_gathered_exchange(drail_gathered_t *g, const void *mine,
                            int timeout_ms)
{
    if (!g->share)
        return drail_job_allgather(g->job, mine, g->bytes, g->all, timeout_ms);
    if (g->all)
        g->share->release(g->context, g->all);
    g->all = NULL;
    return job_gather(g->job, g->share->gather, mine, g->bytes, &g->all,
                      timeout_ms);
}

const void *drail_gathered_of(const drail_gathered_t *g, unsigned rank)
{
    return (const char *)g->all + rank * g->bytes;
}

void drail_gathered_free(drail_gathered_t *g)
{
    if (!g)
        return;
    if (!g->share)
        pages_free(g->all, g->ranks * g->most);
    else if (g->all)
        g->share->release(g->context, g->all);
    free(g);
}
