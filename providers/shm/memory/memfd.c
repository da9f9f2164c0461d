/* SPDX-License-Identifier: BSD-3-Clause */
#include "providers/shm/memory/memfd.h"

#include <fcntl.h>
#include <sys/stat.h>

#define SEALS     (F_SEAL_SHRINK | F_SEAL_GROW)
#define READ_ONLY (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)

bool shm_memfd_ok(int fd, size_t size)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & (SEALS | READ_ONLY)) == SEALS &&
           !fstat(fd, &st) && st.st_size == (off_t)size;
}

bool shm_cannot_shrink(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK);
}
