/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/launch/kvs.h"
#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/launch/launch.h"
#include "dapl_rail/job/socket.h"

/* Rank 0: its own place is a socket like those of the others. */
static int meet_all(drail_launch_t *l, const struct meeting *m, int *fds,
                    const drail_job_config_t *cfg)
{
    int pair[2];
    int rc = gate_keep(m->listener, m->size, &m->secret,
                       deadline_in(cfg->connect_ms), fds, cfg->error);
    if (rc)
        return rc;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        for (unsigned r = 1; r < m->size; r++)
            close(fds[r]);
        return error_set(cfg->error, DRAIL_ENOMEM, "out of sockets");
    }
    l->fd = pair[0];
    fds[0] = pair[1];
    return 0;
}

static int meet_root(drail_launch_t *l, const struct meeting *m, int *fds,
                     const drail_job_config_t *cfg)
{
    int fd = gate_enter(&m->where, m->rank, m->size, &m->secret,
                        deadline_in(cfg->connect_ms), cfg->error);
    if (fd < 0)
        return fd;
    l->fd = fds[0] = fd;
    return 0;
}

static int meet(drail_launch_t *l, const struct meeting *m,
                const drail_job_config_t *cfg)
{
    int *fds = calloc(m->size, sizeof *fds);
    if (!fds)
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
    job_reserve_files(m->size);
    int rc = m->rank ? meet_root(l, m, fds, cfg) : meet_all(l, m, fds, cfg);
    if (!rc) {
        l->met = true;
        rc = hub_open(&l->hub, m->rank, m->size, fds, cfg->grace_ms);
        if (rc)
            error_set(cfg->error, rc, "out of memory");
    }
    free(fds);
    return rc;
}

/* What it says to the others of the launch or of one job. */
static drail_job_t view(drail_launch_t *l, struct oob_channel *channel,
                        const struct drail_platform *platform)
{
    return (drail_job_t){.rank = l->rank,
                         .size = l->size,
                         .platform = platform ? platform : &platform_machine,
                         .allgather = oob_allgather,
                         .context = channel,
                         .stop_all = &l->hub.stop};
}

static struct oob_channel channel_of(drail_launch_t *l, drail_job_t *job)
{
    return (struct oob_channel){
        .job = job, .fd = l->fd, .speaking = &l->hub.speaking};
}

/* Rank 0 waits for the last one, who may just have begun to come. */
static int find_hosts(drail_launch_t *l, const drail_job_config_t *cfg)
{
    drail_job_t job;
    struct oob_channel channel = channel_of(l, &job);
    job = view(l, &channel, NULL);
    int ms = cfg->connect_ms < INT_MAX / 2 ? 2 * cfg->connect_ms : INT_MAX;
    int rc = nodes_make(&job.nodes, l->size, NULL, 1);
    if (!rc)
        rc = job_greet(&job, ms, cfg->error);
    /* rank 0 has ended it all before this rank could ask */
    if (rc == DRAIL_EINTR && !atomic_load(&l->hub.interrupted)) {
        rc = oob_farewell(&channel);
        error_set(cfg->error, rc, "%s", job.error.text);
    }
    nodes_free(&job.nodes);
    l->hosts = job.hosts;
    return rc;
}

int drail_launch_open(const drail_job_config_t *cfg, drail_launch_t **out)
{
    struct meeting m;
    if (!cfg || !out)
        return DRAIL_EINVAL;
    int rc = job_config_check(cfg);
    if (!rc)
        rc = meeting_find(&m, cfg);
    if (rc)
        return rc;
    drail_launch_t *l = calloc(1, sizeof *l);
    if (!l) {
        meeting_leave(&m);
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
    }
    *l = (drail_launch_t){
        .rank = m.rank, .size = m.size, .board = m.board, .fd = -1};
    if (l->size)
        rc = meet(l, &m, cfg);
    if (m.listener >= 0)
        close(m.listener);
    if (!rc && l->size)
        rc = find_hosts(l, cfg);
    if (rc) {
        l->broken = rc;
        drail_launch_close(l);
    } else {
        *out = l;
    }
    return rc;
}

/* A launcher's services end when all ranks have come to this, and it ends a
 * job where one has not. */
static void await_all(drail_launch_t *l)
{
    drail_job_t job;
    struct oob_channel channel = channel_of(l, &job);
    job = view(l, &channel, NULL);
    l->broken = oob_end(&channel, 0);
}

void drail_launch_close(drail_launch_t *l)
{
    if (!l)
        return;
    if (l->board && !l->broken)
        await_all(l);
    if (l->met)
        hub_close(&l->hub);
    if (l->fd >= 0)
        close(l->fd);
    if (l->board)
        l->board->close(l->board, l->broken != 0);
    nodes_free(&l->hosts);
    free(l);
}

unsigned drail_launch_size(const drail_launch_t *l)
{
    return l->size;
}

unsigned drail_launch_rank(const drail_launch_t *l)
{
    return l->rank;
}

unsigned drail_launch_host(const drail_launch_t *l, unsigned rank)
{
    return rank < l->size ? l->hosts.node[rank] : UINT_MAX;
}

/* The ranks' own errors are told by themselves; here is the job's. */
static int outcome(drail_launch_t *l, const drail_job_t *job, int rc,
                   drail_error_t *err)
{
    if (atomic_load(&l->hub.interrupted))
        rc = error_set(err, DRAIL_EINTR, "interrupted by a signal");
    else if (rc)
        error_set(err, rc, "%s",
                  job->error.code ? job->error.text : drail_strerror(rc));
    l->broken = rc;
    return rc;
}

int launch_run(drail_launch_t *l, const drail_job_config_t *cfg,
               drail_rank_main_t rank_main, void *arg)
{
    drail_job_t job;
    struct oob_channel channel = channel_of(l, &job);
    sigset_t old;
    if (cfg->nranks != DRAIL_RANKS_AUTO && cfg->nranks != l->size)
        return error_set(cfg->error, DRAIL_EINVAL,
                         "%u ranks are asked for, and %u were launched",
                         cfg->nranks, l->size);
    if (l->broken)
        return error_set(cfg->error, l->broken,
                         "an earlier job of this launch has failed");
    job = view(l, &channel, cfg->platform);
    if (nodes_make(&job.nodes, l->size,
                   cfg->nodes || cfg->ppn ? cfg->nodes : l->hosts.node,
                   cfg->ppn))
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
    hub_signals_take(&old);
    int status = 1, greeted = job_greet(&job, cfg->connect_ms, cfg->error);
    if (!greeted)
        status = rank_main(&job, arg) & 0xff;
    job.open = NULL; /* what it has not closed uses memory that is gone */
    /* the rank has ended, and so have its interruptions but by a signal */
    atomic_store(&job.stop, false);
    job.stop_all = &l->hub.interrupted;
    int rc = greeted == DRAIL_ETIMEOUT ? oob_leave(&channel)
                                       : oob_end(&channel, status);
    hub_signals_give(&l->hub, &old);
    bool told = greeted == DRAIL_EINVAL || greeted == DRAIL_ETIMEOUT;
    rc = outcome(l, &job, rc, told ? NULL : cfg->error);
    nodes_free(&job.nodes);
    nodes_free(&job.hosts);
    return told ? greeted : rc;
}
