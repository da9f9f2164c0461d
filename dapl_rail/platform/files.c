/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

void files_reserve(unsigned more)
{
    struct rlimit limit;
    int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (first < 0 || getrlimit(RLIMIT_NOFILE, &limit))
        goto out;
    rlim_t last = (rlim_t)first + more;
    if (last >= limit.rlim_cur)
        last = limit.rlim_cur - 1;
    /* the table grows to hold this number, and stays as large */
    int highest = fcntl(first, F_DUPFD_CLOEXEC, (int)last);
    if (highest >= 0)
        close(highest);
out:
    if (first >= 0)
        close(first);
}
