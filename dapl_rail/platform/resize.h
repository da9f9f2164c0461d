/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets the size of a file that is shared memory. The kernel applies the limit
 * of files (ulimit -f) to it, and sends SIGXFSZ beyond it, which would end the
 * program. So the limit is checked before. Providers use it, too.
 */
#ifndef DRAIL_RESIZE_H
#define DRAIL_RESIZE_H

#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

/* 0, or -1 with errno; EFBIG: the limit. */
static inline int file_resize(int fd, size_t bytes)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && bytes > limit.rlim_cur) {
        errno = EFBIG;
        return -1;
    }
    return ftruncate(fd, (off_t)bytes);
}

#endif
