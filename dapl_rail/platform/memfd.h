/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of memory that processes share. Also for the providers. */
#ifndef DRAIL_MEMFD_H
#define DRAIL_MEMFD_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dapl_rail/platform/resize.h"

/* A new file of that size. It is sealed, because a process that maps it must
 * not lose pages: it can't shrink or grow. -1: errno says why. */
static inline int memfd_sealed(const char *name, size_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (file_resize(fd, bytes) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

#endif
