/* SPDX-License-Identifier: BSD-3-Clause */
/* Which boot of which kernel this process runs on. */
#ifndef DRAIL_BOOT_H
#define DRAIL_BOOT_H

#include <fcntl.h>
#include <unistd.h>

#include "dapl_rail/platform/fnv.h"

/* Equal in all processes of one kernel, also in different containers; 0 where
 * the kernel does not tell. */
static inline uint64_t boot_id(void)
{
    char text[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    return n > 0 ? fnv_add(FNV_EMPTY, text, (size_t)n) : 0;
}

#endif
