/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/launch/discover.h"
#include "dapl_rail/job/launch/launch.h"
#include "dapl_rail/job/rendezvous/first_allgather.h"
#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/socket.h"

/* Rank 0 connects to itself by a pair of sockets, so that the server sees all
 * ranks alike. */
static int accept_ranks(drail_launch_t *l, const struct discovery *d, int *fds,
                        const drail_job_config_t *cfg)
{
    int pair[2];
    int rc = rendezvous_serve(d->listener, d->size, &d->secret,
                              deadline_in(cfg->connect_ms), fds, cfg->error);
    if (rc)
        return rc;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        for (unsigned r = 1; r < d->size; r++)
            close(fds[r]);
        return error_set(cfg->error, DRAIL_ENOMEM, "out of sockets");
    }
    l->fd = pair[0];
    fds[0] = pair[1];
    return 0;
}

static int reach_rank_0(drail_launch_t *l, const struct discovery *d, int *fds,
                        const drail_job_config_t *cfg)
{
    int fd = rendezvous_connect(&d->where, d->rank, d->size, &d->secret,
                                deadline_in(cfg->connect_ms), cfg->error);
    if (fd < 0)
        return fd;
    l->fd = fds[0] = fd;
    return 0;
}

static int connect_ranks(drail_launch_t *l, const struct discovery *d,
                         const drail_job_config_t *cfg)
{
    int *fds = calloc(d->size, sizeof *fds);
    if (!fds)
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
    job_reserve_files(d->size);
    int rc =
        d->rank ? reach_rank_0(l, d, fds, cfg) : accept_ranks(l, d, fds, cfg);
    if (!rc) {
        l->connected = true;
        rc = supervisor_open(&l->supervisor, d->rank, d->size, fds,
                             cfg->grace_ms);
        if (rc)
            error_set(cfg->error, rc, "out of memory");
    }
    free(fds);
    return rc;
}

/* A job of all launched ranks, over this channel. */
static drail_job_t job_of(drail_launch_t *l, struct oob_channel *channel,
                          const struct drail_platform *platform)
{
    return (drail_job_t){.rank = l->rank,
                         .size = l->size,
                         .platform = platform ? platform : &platform_machine,
                         .allgather = oob_allgather,
                         .context = channel,
                         .stop_all = &l->supervisor.stop};
}

static struct oob_channel channel_of(drail_launch_t *l, drail_job_t *job)
{
    return (struct oob_channel){
        .job = job, .fd = l->fd, .send_lock = &l->supervisor.send_lock};
}

/* Rank 0 may wait connect_ms for the last rank, which may have started only
 * then: so this waits twice as long. */
static int find_hosts(drail_launch_t *l, const drail_job_config_t *cfg)
{
    drail_job_t job;
    struct oob_channel channel = channel_of(l, &job);
    job = job_of(l, &channel, NULL);
    int ms = cfg->connect_ms < INT_MAX / 2 ? 2 * cfg->connect_ms : INT_MAX;
    int rc = nodes_make(&job.nodes, l->size, NULL, 1);
    if (!rc)
        rc = job_first_allgather(&job, ms, cfg->error);
    /* rank 0 has ended the job before this rank sent its request */
    if (rc == DRAIL_EINTR && !atomic_load(&l->supervisor.interrupted)) {
        rc = oob_last_reply(&channel);
        error_set(cfg->error, rc, "%s", job.error.text);
    }
    nodes_free(&job.nodes);
    l->hosts = job.hosts;
    return rc;
}

int drail_launch_open(const drail_job_config_t *cfg, drail_launch_t **out)
{
    struct discovery d;
    if (!cfg)
        return DRAIL_EINVAL;
    if (!out)
        return error_set(cfg->error, DRAIL_EINVAL,
                         "drail_launch_open: no room for the launch");
    int rc = job_config_check(cfg);
    if (!rc)
        rc = discover(&d, cfg);
    if (rc)
        return rc;
    drail_launch_t *l = calloc(1, sizeof *l);
    if (!l) {
        discovery_release(&d);
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
    }
    *l = (drail_launch_t){
        .rank = d.rank, .size = d.size, .kvs = d.kvs, .fd = -1};
    if (l->size)
        rc = connect_ranks(l, &d, cfg);
    if (d.listener >= 0)
        close(d.listener);
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

/* All ranks must close a launcher's services together: the launcher takes a
 * rank that has not done so for one that failed. */
static void await_all(drail_launch_t *l)
{
    drail_job_t job;
    struct oob_channel channel = channel_of(l, &job);
    job = job_of(l, &channel, NULL);
    l->broken = oob_end(&channel, 0);
}

void drail_launch_close(drail_launch_t *l)
{
    if (!l)
        return;
    if (l->kvs && !l->broken)
        await_all(l);
    if (l->connected)
        supervisor_close(&l->supervisor);
    if (l->fd >= 0)
        close(l->fd);
    if (l->kvs)
        l->kvs->close(l->kvs, l->broken != 0);
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

/* The outcome of the job. Each rank reports its own errors itself. */
static int job_outcome(drail_launch_t *l, const drail_job_t *job, int rc,
                       drail_error_t *err)
{
    if (atomic_load(&l->supervisor.interrupted))
        rc = error_set(err, DRAIL_EINTR, "interrupted by a signal");
    else if (rc)
        error_set(err, rc, "%s", job_why(job, rc));
    l->broken = rc;
    return rc;
}

int launch_run(drail_launch_t *l, const drail_job_config_t *cfg,
               drail_rank_main_t rank_main, void *arg)
{
    drail_job_t job;
    struct oob_channel channel = channel_of(l, &job);
    sigset_t old;
    if (launched_check(l->size, cfg))
        return DRAIL_EINVAL;
    if (l->broken)
        return error_set(cfg->error, l->broken,
                         "an earlier job of this launch has failed");
    job = job_of(l, &channel, cfg->platform);
    if (nodes_make(&job.nodes, l->size,
                   cfg->nodes || cfg->ppn ? cfg->nodes : l->hosts.node,
                   cfg->ppn))
        return error_set(cfg->error, DRAIL_ENOMEM, "out of memory");
    supervisor_signals_take(&old);
    int status = 1;
    int first = job_first_allgather(&job, cfg->connect_ms, cfg->error);
    if (!first)
        status = rank_main(&job, arg) & 0xff;
    /* transports that rank_main has not closed: their memory may be gone */
    job.open = NULL;
    /* rank_main is over: only a signal interrupts from here on */
    atomic_store(&job.stop, false);
    job.stop_all = &l->supervisor.interrupted;
    int rc = first == DRAIL_ETIMEOUT ? oob_leave(&channel)
                                     : oob_end(&channel, status);
    supervisor_signals_give(&l->supervisor, &old);
    bool told = first == DRAIL_EINVAL || first == DRAIL_ETIMEOUT;
    rc = job_outcome(l, &job, rc, told ? NULL : cfg->error);
    nodes_free(&job.nodes);
    nodes_free(&job.hosts);
    return told ? first : rc;
}
