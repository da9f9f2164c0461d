/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: reads and writes of the program, and of libraries
 * whose functions it calls (libgfortran, libstdc++). The kernel does not wait
 * for a page that is elsewhere, so all pages are brought here before. While a
 * call waits, another thread of the rank may synchronise, and the pages may go:
 * then the call is repeated. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
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
FILE *_IO_fopen(const char *path, const char *mode);
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
#pragma weak fopen
#pragma weak fopen64

/* Has the kernel found a page gone? If it does each time, the address is wrong.
 */
static bool is_lost(ssize_t result, int *tries)
{
    enum { MOST = 1000 };
    return result < 0 && errno == EFAULT && ++*tries < MOST;
}

/* A descriptor is one of the rank that has opened it. */
static ssize_t done(ssize_t result, int fd, const char *function)
{
    if (result < 0 && errno == EBADF)
        railomp_no_descriptor(fd, function);
    return result;
}

ssize_t read(int fd, void *to, size_t bytes)
{
    ssize_t result;
    int tries = 0;
    do
        railomp_prepare(to, bytes, true);
    while (is_lost(result = __read(fd, to, bytes), &tries));
    return done(result, fd, "read");
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    ssize_t result;
    int tries = 0;
    do
        railomp_prepare(from, bytes, false);
    while (is_lost(result = __write(fd, from, bytes), &tries));
    return done(result, fd, "write");
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    ssize_t result;
    int tries = 0;
    do
        railomp_prepare(to, bytes, true);
    while (is_lost(result = __pread64(fd, to, bytes, offset), &tries));
    return done(result, fd, "pread");
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    ssize_t result;
    int tries = 0;
    do
        railomp_prepare(from, bytes, false);
    while (is_lost(result = __pwrite64(fd, from, bytes, offset), &tries));
    return done(result, fd, "pwrite");
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
    ssize_t result;
    int tries = 0;
    do
        prepare_all(to, count, true);
    while (is_lost(result = syscall(SYS_readv, fd, to, count), &tries));
    return done(result, fd, "readv");
}

ssize_t writev(int fd, const struct iovec *from, int count)
{
    ssize_t result;
    int tries = 0;
    do
        prepare_all(from, count, false);
    while (is_lost(result = syscall(SYS_writev, fd, from, count), &tries));
    return done(result, fd, "writev");
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

/* also of libstdc++, whose strings lie in the shared heap */
FILE *fopen(const char *path, const char *mode)
{
    if (path)
        railomp_prepare(path, strlen(path) + 1, false);
    return _IO_fopen(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}

size_t __fread_chk(void *to, size_t room, size_t bytes, size_t count,
                   FILE *file)
{
    size_t all;
    check_room(__builtin_mul_overflow(bytes, count, &all) ? SIZE_MAX : all,
               room);
    return fread(to, bytes, count, file);
}
