/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: its calls with descriptors. A descriptor is a
 * number of one rank only: the number of a file that another rank has opened
 * may be that of a descriptor of the runtime in this rank. Only calls of the
 * program come here, not those of libraries. */
#include <sys/types.h>
#include <sys/uio.h>

#include "omp/wrapper/program.h"

/* __real_ and __wrap_ are the linker's names */
#define CHECKED(type, name, parameters, arguments)                             \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        railomp_descriptor(fd, #name);                                         \
        return __real_##name arguments;                                        \
    }
#define CHECKED_AT(type, name, pointer)                                        \
    CHECKED(type, name, (int fd, pointer p, size_t bytes, off_t offset),       \
            (fd, p, bytes, offset))

CHECKED(ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes))
CHECKED(ssize_t, write, (int fd, const void *from, size_t bytes),
        (fd, from, bytes))
CHECKED_AT(ssize_t, pread, void *)
CHECKED_AT(ssize_t, pread64, void *)
CHECKED_AT(ssize_t, pwrite, const void *)
CHECKED_AT(ssize_t, pwrite64, const void *)
CHECKED(ssize_t, readv, (int fd, const struct iovec *to, int count),
        (fd, to, count))
CHECKED(ssize_t, writev, (int fd, const struct iovec *from, int count),
        (fd, from, count))
/* with -D_FORTIFY_SOURCE */
CHECKED(ssize_t, __read_chk, (int fd, void *to, size_t bytes, size_t room),
        (fd, to, bytes, room))
CHECKED(ssize_t, __pread_chk,
        (int fd, void *to, size_t bytes, off_t offset, size_t room),
        (fd, to, bytes, offset, room))
CHECKED(ssize_t, __pread64_chk,
        (int fd, void *to, size_t bytes, off_t offset, size_t room),
        (fd, to, bytes, offset, room))

CHECKED(off_t, lseek, (int fd, off_t offset, int from), (fd, offset, from))
CHECKED(off_t, lseek64, (int fd, off_t offset, int from), (fd, offset, from))
CHECKED(int, ftruncate, (int fd, off_t bytes), (fd, bytes))
CHECKED(int, ftruncate64, (int fd, off_t bytes), (fd, bytes))
CHECKED(int, close, (int fd), (fd))
CHECKED(int, listen, (int fd, int most), (fd, most))
CHECKED(int, shutdown, (int fd, int how), (fd, how))
CHECKED(int, dup2, (int from, int fd), (from, fd))
