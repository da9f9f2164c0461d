/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The size of a file that is shared memory. To the kernel it is a file like any
 * other: beyond the limit of the process (ulimit -f) it sends SIGXFSZ, which
 * ends the program, so the limit is looked at before. Also of the providers.
 */
#ifndef DRAIL_RESIZE_H
#define DRAIL_RESIZE_H

#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

/* 0, or -1 with errno (EFBIG: the limit). */
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
