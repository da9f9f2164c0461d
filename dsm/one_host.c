/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages that all ranks of one host map from one file. The processor keeps them
 * coherent, which is more than release consistency asks for: there is nothing
 * to fetch, compare, or announce. Each rank takes every page for a DDSM_OPEN
 * one with its home here (alloc.c), so none is ever protected. Barriers go
 * through the same file (shared_barrier.c). Locks and the heap are the same as
 * between hosts.
 */
#include "dsm/one_host.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dsm/pages/map.h"
#include "dsm/sync/shared_barrier.h"

/* What a rank has: rank 0 the file, and then the others, too. */
struct offer {
    bool has;
    int fd;
    pid_t process;
    uint64_t device, inode;
};

static struct offer offer_of(const ddsm_t *d)
{
    struct stat file;
    if (d->fd < 0 || fstat(d->fd, &file))
        return (struct offer){0};
    return (struct offer){true, d->fd, d->process, file.st_dev, file.st_ino};
}

static bool is_theirs(const struct stat *file, const struct offer *theirs)
{
    return file->st_dev == theirs->device && file->st_ino == theirs->inode;
}

/* The process number may be another's here, in a container for example. What it
 * has there is not opened: that might do something (a pipe, a device). */
static void open_theirs(ddsm_t *d, const struct offer *theirs)
{
    char path[64];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)theirs->process,
             theirs->fd);
    if (stat(path, &file) || !is_theirs(&file, theirs))
        return;
    d->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    /* the process may have ended meanwhile */
    if (d->fd >= 0 && (fstat(d->fd, &file) || !is_theirs(&file, theirs)))
        map_drop_file(d);
}

static int exchange(ddsm_t *d, struct offer *all)
{
    const struct offer mine = offer_of(d);
    int rc = drail_job_allgather(d->job, &mine, sizeof mine, all, -1);
    return rc ? space_fail(d, rc, "%s: %s", drail_strerror(rc),
                           drail_job_last_error(d->job))
              : 0;
}

int one_host_open(ddsm_t *d)
{
    struct offer all[d->size];
    bool everywhere = true;
    /* ranks that share a process have the space at several addresses */
    if (d->cfg.pages != DDSM_PAGES_SHARED || !d->symmetric ||
        drail_job_local_size(d->job, d->rank) != d->size)
        return 0;
    if (d->rank == 0)
        map_make_file(d, shared_barrier_bytes(d));
    int rc = exchange(d, all);
    if (!rc && d->rank && all[0].has)
        open_theirs(d, &all[0]);
    if (!rc)
        rc = exchange(d, all);
    for (unsigned r = 0; r < d->size; r++)
        everywhere &= !rc && all[r].has;
    if (!everywhere)
        map_drop_file(d);
    d->is_shared = everywhere;
    return rc;
}
