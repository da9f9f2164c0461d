/* SPDX-License-Identifier: BSD-3-Clause */
/* A job whose ranks somebody else has started. */
#include <stdlib.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"

/* What each rank tells all others when it joins. */
struct greeting {
    uint32_t rank, size;
    uint64_t nodes; /* a sum of the map */
    uint64_t id;    /* that of rank 0 is the job's */
};

static uint64_t map_sum(const struct nodes *nodes, unsigned size)
{
    uint64_t sum = 0xcbf29ce484222325ull; /* FNV-1a */
    for (unsigned r = 0; r < size; r++)
        sum = (sum ^ nodes->node[r]) * 0x100000001b3ull;
    return sum;
}

/* All look at the same, so all agree on whether it is a job. */
static int greetings_check(const struct greeting *all, unsigned size,
                           drail_error_t *err)
{
    for (unsigned r = 0; r < size; r++) {
        if (all[r].rank != r || all[r].size != size)
            return error_set(err, DRAIL_EINVAL,
                             "the all-gather has rank %u of %u in the place of "
                             "rank %u of %u",
                             all[r].rank, all[r].size, r, size);
        if (all[r].nodes != all[0].nodes)
            return error_set(err, DRAIL_EINVAL,
                             "ranks 0 and %u differ in the node of each rank",
                             r);
    }
    return 0;
}

static int greet(drail_job_t *job, drail_error_t *err)
{
    struct greeting mine = {
        .rank = job->rank,
        .size = job->size,
        .nodes = map_sum(&job->nodes, job->size),
        .id = job_random(job->platform),
    };
    /* that the all-gather is of as many ranks is what this finds out */
    struct greeting *all = calloc(MAX_RANKS, sizeof *all);
    if (!all)
        return error_set(err, DRAIL_ENOMEM, "out of memory");
    int rc = drail_job_allgather(job, &mine, sizeof mine, all, -1);
    if (rc)
        error_set(err, rc, "all-gather of the job's ranks: %s",
                  drail_strerror(rc));
    else
        rc = greetings_check(all, job->size, err);
    job->id = all[0].id;
    free(all);
    return rc;
}

int drail_job_join(const drail_job_join_t *how, drail_job_t **out,
                   drail_error_t *err)
{
    if (!how || !how->allgather || !out)
        return error_set(err, DRAIL_EINVAL, "drail_job_join: NULL argument");
    if (how->size < 1 || how->size > MAX_RANKS || how->rank >= how->size)
        return error_set(err, DRAIL_EINVAL,
                         "rank %u of %u: allowed are 1 to %u ranks, counted "
                         "from 0",
                         how->rank, how->size, MAX_RANKS);
    drail_job_t *job = calloc(1, sizeof *job);
    if (!job)
        return error_set(err, DRAIL_ENOMEM, "out of memory");
    job->rank = how->rank;
    job->size = how->size;
    job->platform = how->platform ? how->platform : &platform_machine;
    job->allgather = how->allgather;
    job->context = how->context;
    job->joined = true;
    job_reserve_files(job->size);
    int rc = nodes_make(&job->nodes, job->size, how->nodes, job->size);
    if (rc)
        error_set(err, rc, "out of memory");
    else
        rc = greet(job, err);
    if (rc)
        drail_job_leave(job);
    else
        *out = job;
    return rc;
}

void drail_job_leave(drail_job_t *job)
{
    if (!job)
        return;
    nodes_free(&job->nodes);
    free(job);
}
