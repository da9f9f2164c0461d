/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening a rail's cable. The connection manager reacts to its changes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dapl_rail/platform/resize.h"
#include "providers/shm/link_model/cable.h"

/* A folder of cable files named after their rails, or descriptors of this
 * process: "fd:RAIL=NUMBER,…". */
#define CABLES_ENV  "DAPL_SHM_CABLES"
#define DESCRIPTORS "fd:"
#define FD_FOLDER   "/proc/self/fd/"

/* The descriptor in such a list, or -1. */
static int listed(const char *list, const char *rail)
{
    size_t n = strlen(rail);
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (!strncmp(list, rail, n) && list[n] == '=')
            return atoi(list + n + 1);
    return -1;
}

/* Sets the path of the cable; "": there is none. -1: the path is too long. */
static int find(struct shm_ia *sia)
{
    char *path = sia->params.cable;
    const char *all = secure_getenv(CABLES_ENV), *rail = sia->ia->name;
    int n = 0;
    if (*path || !all || !*all)
        return 0;
    if (strncmp(all, DESCRIPTORS, strlen(DESCRIPTORS)) != 0)
        n = snprintf(path, SHM_PATH_MAX, "%s/%s", all, rail);
    else if ((n = listed(all + strlen(DESCRIPTORS), rail)) >= 0)
        n = snprintf(path, SHM_PATH_MAX, FD_FOLDER "%d", n);
    return n < SHM_PATH_MAX ? 0 : -1;
}

/* Follows no symbolic link, which may be another user's, except to a
 * descriptor. */
static int open_path(const char *path)
{
    int flags = O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC;
    if (strncmp(path, FD_FOLDER, strlen(FD_FOLDER)) != 0)
        flags |= O_NOFOLLOW;
    return open(path, flags, 0600);
}

/* NULL: the file is this user's alone and a cable; an empty one becomes one. */
static const char *what_is_wrong(int fd)
{
    struct stat st;
    struct shm_cable c;
    const size_t size = sizeof c;
    if (fd < 0 || fstat(fd, &st))
        return strerror(errno);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
        return "not a file that this user alone may read and write";
    if (!st.st_size && file_resize(fd, size))
        return strerror(errno);
    if (pread(fd, &c, size, 0) != (ssize_t)size ||
        (st.st_size && st.st_size != (off_t)size) || c.pulled > 1 ||
        c.mute > 1 || c.slow >= SHM_CABLE_FULL)
        return "not a cable";
    for (unsigned i = 0; i < sizeof c.reserved / sizeof c.reserved[0]; i++)
        if (c.reserved[i])
            return "not a cable";
    return NULL;
}

/* Watches the file, not its name. */
static int watch(int fd)
{
    char path[64];
    snprintf(path, sizeof path, FD_FOLDER "%d", fd);
    int watching = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watching >= 0 && inotify_add_watch(watching, path, IN_MODIFY) < 0) {
        close(watching);
        return -1;
    }
    return watching;
}

static int use(struct shm_ia *sia, int fd)
{
    void *map = mmap(NULL, sizeof *sia->cable, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return -1;
    sia->cable = map;
    sia->end_cuts = atomic_load(&sia->cable->end_cuts);
    sia->cable_fd = watch(fd);
    return sia->cable_fd < 0 ? -1 : 0;
}

int shm_cable_open(struct shm_ia *sia)
{
    const char *path = sia->params.cable, *wrong = NULL;
    if (find(sia))
        return core_params_bad(&shm_params_known, sia->ia->name, CABLES_ENV,
                               "too long");
    if (!*path)
        return 0;
    int fd = open_path(path);
    if (!(wrong = what_is_wrong(fd)) && use(sia, fd))
        wrong = strerror(errno);
    if (fd >= 0)
        close(fd);
    if (!wrong)
        return 0;
    core_params_bad(&shm_params_known, sia->ia->name, "cable", "%.160s: %s",
                    path, wrong);
    shm_cable_close(sia);
    return -1;
}

void shm_cable_close(struct shm_ia *sia)
{
    if (sia->cable_fd >= 0)
        close(sia->cable_fd);
    if (sia->cable)
        munmap((void *)(uintptr_t)sia->cable, sizeof *sia->cable);
    sia->cable_fd = -1;
    sia->cable = NULL;
}

void shm_cable_seen(struct shm_ia *sia)
{
    _Alignas(struct inotify_event) char events[1024];
    while (read(sia->cable_fd, events, sizeof events) > 0)
        ;
}

double shm_cable_cost(const struct shm_ia *sia)
{
    unsigned left = sia->cable ? atomic_load_explicit(&sia->cable->slow,
                                                      memory_order_relaxed)
                               : 0;
    return left && left < SHM_CABLE_FULL ? (double)SHM_CABLE_FULL / left : 1;
}

void shm_cable_slow_down(const struct shm_ia *sia, uint64_t start)
{
    double cost = shm_cable_cost(sia);
    if (!(cost > 1))
        return;
    uint64_t took = busywait_now_ns() - start;
    uint64_t end = start + (uint64_t)((double)took * cost);
    while (busywait_now_ns() < end)
        ;
}
