/* SPDX-License-Identifier: BSD-3-Clause */
#include "resources.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FEW 16 /* descriptors: what has failed may have given so many back */

/* The lowest free descriptor is always taken first, so if one near the limit is
 * taken few are free. */
static bool files_used_up(rlim_t limit)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    int near = limit > FEW ? (int)limit - FEW : 0;
    int got = fcntl(fd, F_DUPFD_CLOEXEC, near);
    close(fd);
    if (got >= 0)
        close(got);
    return got != near;
}

static void *nothing(void *unused)
{
    return unused;
}

static bool threads_used_up(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL))
        return true;
    pthread_join(thread, NULL);
    return false;
}

static const struct resource {
    int number;
    rlim_t enough;
    const char *what;
} resources[] = {
    {RLIMIT_NOFILE, RLIM_INFINITY, "open files (ulimit -n)"},
    {RLIMIT_NPROC, RLIM_INFINITY, "processes of this user (ulimit -u)"},
    {RLIMIT_FSIZE, 1 << 30, "bytes of a file or of shared memory (ulimit -f)"},
    {RLIMIT_AS, 1 << 30, "bytes of memory (ulimit -v)"},
    {RLIMIT_MEMLOCK, 1 << 30, "bytes of locked memory (ulimit -l)"},
};

static bool concerns(const struct resource *r, rlim_t limit, bool locks)
{
    if (limit >= r->enough)
        return false;
    switch (r->number) {
    case RLIMIT_NOFILE:
        return files_used_up(limit);
    case RLIMIT_NPROC:
        return threads_used_up();
    case RLIMIT_MEMLOCK:
        return locks;
    default:
        return true;
    }
}

void resources_text(char *text, size_t size, bool locks)
{
    const size_t n = sizeof resources / sizeof *resources;
    struct rlimit limit;
    size_t used = 0;
    *text = '\0';
    for (const struct resource *r = resources; r < resources + n; r++)
        if (used < size && !getrlimit((__rlimit_resource_t)r->number, &limit) &&
            concerns(r, limit.rlim_cur, locks))
            used += (size_t)snprintf(
                text + used, size - used, "%s%llu %s",
                used ? ", " : " (limits: ", (unsigned long long)limit.rlim_cur,
                r->what);
    if (used && used < size)
        snprintf(text + used, size - used, ")");
}
