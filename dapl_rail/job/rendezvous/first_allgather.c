/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/rendezvous/first_allgather.h"
#include "dapl_rail/job/rendezvous/host.h"
#include "dapl_rail/platform/fnv.h"

/* The contribution of a rank. */
struct introduction {
    uint32_t rank, size;
    uint64_t nodes; /* checksum of the map of ranks to nodes */
    uint64_t id;    /* rank 0's becomes the job's */
    unsigned char host[HOST_BYTES];
};

/* All ranks check the same data, so all come to the same result. */
static int check(const struct introduction *all, unsigned size,
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

static int find_hosts(drail_job_t *job, const struct introduction *all)
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

int job_first_allgather(drail_job_t *job, int timeout_ms, drail_error_t *err)
{
    struct introduction mine = {
        .rank = job->rank,
        .size = job->size,
        .nodes = fnv_add(FNV_EMPTY, job->nodes.node,
                         job->size * sizeof *job->nodes.node),
        .id = job_random(job->platform),
    };
    host_identify(mine.host);
    /* not job->size: the all-gather may turn out to have more ranks */
    struct introduction *all = pages_new(DRAIL_MAX_RANKS * sizeof *all);
    if (!all)
        return error_set(err, DRAIL_ENOMEM, "out of memory");
    int rc = drail_job_allgather(job, &mine, sizeof mine, all, timeout_ms);
    if (rc)
        error_set(err, rc, "all-gather of the job's ranks: %s",
                  job_why(job, rc));
    else if (!(rc = check(all, job->size, err)) && (rc = find_hosts(job, all)))
        error_set(err, rc, "out of memory");
    job->id = all[0].id;
    pages_free(all, DRAIL_MAX_RANKS * sizeof *all);
    return rc;
}
