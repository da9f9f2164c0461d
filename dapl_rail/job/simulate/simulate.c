/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <sys/mman.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/launch/fork.h"
#include "dapl_rail/job/simulate/cluster.h"
#include "dapl_rail/job/simulate/gathering.h"
#include "dapl_rail/job/simulate/simulate.h"

/* How the ranks ended, in memory that the caller's process shares. */
struct ended {
    unsigned failed; /* ranks */
    unsigned rank;   /* the first of them, … */
    int status;      /* … and its exit status */
};

struct world {
    struct cluster cluster;
    const drail_job_config_t *cfg;
    drail_rank_main_t rank_main;
    void *arg;
    const drail_job_t *process; /* a job of one rank: the ranks' process */
    struct gathering gathering;
    struct ended *ended;
};

/* ----------------------------------------------- in the process of the ranks
 */

static int rank_run(struct world *w, struct place *place,
                    const drail_job_join_t *how)
{
    drail_job_t *job;
    drail_error_t err;
    if (drail_job_join(how, &job, &err)) {
        fprintf(stderr, "rank %u: %s\n", how->rank, err.text);
        return 1;
    }
    job->stop_all = w->process->stop_all;
    job->share = &gathering_share;
    job->joined = false; /* its all-gather is the library's */
    place->job = job;
    int status = w->rank_main(job, w->arg) & 0xff;
    drail_job_leave(job);
    return status;
}

/* The actor of a rank. */
static void rank_live(void *arg, unsigned rank)
{
    struct world *w = arg;
    struct place place = {.gathering = &w->gathering, .rank = rank};
    drail_job_join_t how = {.rank = rank,
                            .size = w->cfg->nranks,
                            .nodes = w->cluster.nodes.node,
                            .allgather = gathering_allgather,
                            .context = &place,
                            .platform = &w->cluster.platform};
    int status = rank_run(w, &place, &how);
    if (status && !w->ended->failed++) {
        w->ended->rank = rank;
        w->ended->status = status;
    }
}

/* Returns the exit status of the process. */
static int world_run(drail_job_t *process, void *arg)
{
    struct world *w = arg;
    const struct cluster *c = &w->cluster;
    w->process = process;
    w->gathering = (struct gathering){.sim = c->sim, .ranks = w->cfg->nranks};
    job_reserve_files(w->cfg->nranks);
    int stuck =
        c->sim->run(&c->described, w->cfg->nranks, c->nodes.node, rank_live, w);
    gathering_end(&w->gathering);
    if (stuck) {
        fprintf(stderr, "all ranks that have not ended wait for ever\n");
        return 1;
    }
    return w->ended->failed ? w->ended->status : 0;
}

/* ------------------------------------------------- in the caller's process */

int simulate_ranks(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
                   void *arg)
{
    struct world w = {.cfg = cfg, .rank_main = rank_main, .arg = arg};
    drail_job_config_t process = *cfg;
    process.nranks = 1;
    process.ppn = 0;
    process.nodes = NULL;
    int rc = cluster_make(&w.cluster, cfg);
    if (rc)
        goto out;
    w.ended = mmap(NULL, sizeof *w.ended, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w.ended == MAP_FAILED) {
        rc = error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
        goto out;
    }
    rc = fork_ranks(&process, world_run, &w);
    if (rc == DRAIL_EJOB && w.ended->failed)
        error_set(cfg->error, rc, "rank %u exited with status %d",
                  w.ended->rank, w.ended->status);
    munmap(w.ended, sizeof *w.ended);
out:
    cluster_free(&w.cluster);
    return rc;
}
