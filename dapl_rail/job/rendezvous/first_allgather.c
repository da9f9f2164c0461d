/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/rendezvous/host.h"
#include "dapl_rail/job/job.h"

/* What each rank tells all others when it joins. */
struct greeting {
    uint32_t rank, size;
    uint64_t nodes; /* a sum of the map */
    uint64_t id;    /* that of rank 0 is the job's */
    unsigned char host[HOST_BYTES];
};

static uint64_t map_sum(const struct nodes *nodes, unsigned size)
{
    uint64_t sum = 0xcbf29ce484222325ull; /* FNV-1a */
    for (unsigned r = 0; r < size; r++)
        sum = (sum ^ nodes->node[r]) * 0x100000001b3ull;
    return sum;
}

/* All look at the same, so all agree on whether it is a job. */
static int check(const struct greeting *all, unsigned size, drail_error_t *err)
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

static int find_hosts(drail_job_t *job, const struct greeting *all)
{
    unsigned *map = calloc(job->size, sizeof *map);
    if (!map)
        return DRAIL_ENOMEM;
    for (unsigned r = 0; r < job->size; r++)
        while (memcmp(all[map[r]].host, all[r].host, HOST_BYTES))
            map[r]++; /* at most to r itself */
    int rc = nodes_make(&job->hosts, job->size, map, 0);
    free(map);
    return rc;
}

int job_greet(drail_job_t *job, int timeout_ms, drail_error_t *err)
{
    struct greeting mine = {
        .rank = job->rank,
        .size = job->size,
        .nodes = map_sum(&job->nodes, job->size),
        .id = job_random(job->platform),
    };
    host_identify(mine.host);
    /* that the all-gather is of as many ranks is what this finds out */
    struct greeting *all = pages_new(DRAIL_MAX_RANKS * sizeof *all);
    if (!all)
        return error_set(err, DRAIL_ENOMEM, "out of memory");
    int rc = drail_job_allgather(job, &mine, sizeof mine, all, timeout_ms);
    if (rc)
        error_set(err, rc, "all-gather of the job's ranks: %s",
                  job->error.code ? job->error.text : drail_strerror(rc));
    else if (!(rc = check(all, job->size, err)) && (rc = find_hosts(job, all)))
        error_set(err, rc, "out of memory");
    job->id = all[0].id;
    pages_free(all, DRAIL_MAX_RANKS * sizeof *all);
    return rc;
}
