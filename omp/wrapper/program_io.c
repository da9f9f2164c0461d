/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: reads and writes of the program, and of libraries
 * whose functions it calls (libgfortran, libstdc++). The kernel does not wait
 * for a page that is elsewhere, so all pages are brought here before. */
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "omp/wrapper/program.h"

/* GCC takes what only the kernel fills in for used before */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

/* the C library's own names */
ssize_t __read(int fd, void *to, size_t bytes);
ssize_t __write(int fd, const void *from, size_t bytes);
ssize_t __pread64(int fd, void *to, size_t bytes, off64_t offset);
ssize_t __pwrite64(int fd, const void *from, size_t bytes, off64_t offset);
size_t _IO_fread(void *to, size_t bytes, size_t count, FILE *file);
size_t _IO_fwrite(const void *from, size_t bytes, size_t count, FILE *file);
void __chk_fail(void) __attribute__((noreturn));

/* what headers make of the functions with -D_FORTIFY_SOURCE: @room bytes are at
 * @to */
ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t offset,
                      size_t room);
size_t __fread_chk(void *to, size_t room, size_t bytes, size_t count,
                   FILE *file);

/* The program may have functions of its own with these names. */
#pragma weak read
#pragma weak write
#pragma weak pread
#pragma weak pwrite
#pragma weak pread64
#pragma weak pwrite64
#pragma weak readv
#pragma weak writev
#pragma weak fread
#pragma weak fwrite

ssize_t read(int fd, void *to, size_t bytes)
{
    railomp_prepare(to, bytes, true);
    return __read(fd, to, bytes);
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    railomp_prepare(from, bytes, false);
    return __write(fd, from, bytes);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    railomp_prepare(to, bytes, true);
    return __pread64(fd, to, bytes, offset);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    railomp_prepare(from, bytes, false);
    return __pwrite64(fd, from, bytes, offset);
}

/* with -D_FILE_OFFSET_BITS=64 */
ssize_t pread64(int fd, void *to, size_t bytes, off64_t offset)
{
    return pread(fd, to, bytes, offset);
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t offset)
{
    return pwrite(fd, from, bytes, offset);
}

static void check_room(size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
}

ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room)
{
    check_room(bytes, room);
    return read(fd, to, bytes);
}

ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t room)
{
    check_room(bytes, room);
    return pread(fd, to, bytes, offset);
}

ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t offset,
                      size_t room)
{
    check_room(bytes, room);
    return pread(fd, to, bytes, offset);
}

static void prepare_all(const struct iovec *pieces, int count, bool writable)
{
    for (int i = 0; i < count; i++)
        railomp_prepare(pieces[i].iov_base, pieces[i].iov_len, writable);
}

ssize_t readv(int fd, const struct iovec *to, int count)
{
    prepare_all(to, count, true);
    return syscall(SYS_readv, fd, to, count);
}

ssize_t writev(int fd, const struct iovec *from, int count)
{
    prepare_all(from, count, false);
    return syscall(SYS_writev, fd, from, count);
}

size_t fread(void *to, size_t bytes, size_t count, FILE *file)
{
    railomp_prepare(to, bytes * count, true);
    return _IO_fread(to, bytes, count, file);
}

size_t fwrite(const void *from, size_t bytes, size_t count, FILE *file)
{
    railomp_prepare(from, bytes * count, false);
    return _IO_fwrite(from, bytes, count, file);
}

size_t __fread_chk(void *to, size_t room, size_t bytes, size_t count,
                   FILE *file)
{
    size_t all;
    check_room(__builtin_mul_overflow(bytes, count, &all) ? SIZE_MAX : all,
               room);
    return fread(to, bytes, count, file);
}
