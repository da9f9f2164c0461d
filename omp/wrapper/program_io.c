/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: reads and writes of the program, and of libraries
 * whose functions it calls (libgfortran, libstdc++). The kernel does not wait
 * for a page that is elsewhere, so all pages are brought here before. While a
 * call waits, another thread of the rank may synchronise, and the pages may go:
 * then the call is repeated. Where the kernel would have lost what it has read
 * then, it fills memory of this rank only. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "omp/wrapper/private_buffer.h"
#include "omp/wrapper/program.h"
#include "omp/wrapper/wrapped.h"

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

/* A descriptor is one of the rank that has opened it. */
static ssize_t done(ssize_t result, int fd, const char *function)
{
    if (result < 0 && errno == EBADF)
        railomp_no_descriptor(fd, function);
    return result;
}

/* How much to read at once into private memory; 0: none, as what the kernel
 * can't store can be read again. */
static size_t private_bytes(int fd, size_t bytes)
{
    struct stat status;
    if (fstat(fd, &status) || S_ISREG(status.st_mode) ||
        S_ISBLK(status.st_mode))
        return 0;
    const bool may_be_short =
        S_ISFIFO(status.st_mode) || (S_ISSOCK(status.st_mode) && is_stream(fd));
    return may_be_short ? at_most(bytes, STREAM_MOST) : bytes;
}

static void scatter(const char *own, size_t bytes, const struct iovec *to)
{
    for (; bytes; to++) {
        const size_t part = at_most(bytes, to->iov_len);
        memcpy(to->iov_base, own, part);
        own += part;
        bytes -= part;
    }
}

static ssize_t read_private(int fd, const struct iovec *to, size_t bytes)
{
    ssize_t result;
    void *own = __real_malloc(bytes);
    if (!own)
        return -1;
    pthread_cleanup_push(free_buffer, own);
    result = __read(fd, own, bytes);
    if (result > 0)
        scatter(own, (size_t)result, to);
    pthread_cleanup_pop(true);
    return result;
}

ssize_t read(int fd, void *to, size_t bytes)
{
    ssize_t result;
    const struct iovec piece = {to, bytes};
    const size_t own = railomp_may_go(to, bytes) ? private_bytes(fd, bytes) : 0;
    if (own)
        return done(read_private(fd, &piece, own), fd, "read");
    REPEATED(result, railomp_prepare(to, bytes, true), __read(fd, to, bytes));
    return done(result, fd, "read");
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    ssize_t result;
    REPEATED(result, railomp_prepare(from, bytes, false),
             __write(fd, from, bytes));
    return done(result, fd, "write");
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    ssize_t result;
    REPEATED(result, railomp_prepare(to, bytes, true),
             __pread64(fd, to, bytes, offset));
    return done(result, fd, "pread");
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    ssize_t result;
    REPEATED(result, railomp_prepare(from, bytes, false),
             __pwrite64(fd, from, bytes, offset));
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

/* Of all pieces if a page of one may go, else 0; also if the kernel is to find
 * an error. */
static size_t bytes_that_may_go(const struct iovec *pieces, int count)
{
    size_t all = 0;
    bool may_go = false;
    if (count > IOV_MAX)
        return 0;
    for (int i = 0; i < count; i++) {
        if (__builtin_add_overflow(all, pieces[i].iov_len, &all) ||
            all > SSIZE_MAX)
            return 0;
        may_go |= railomp_may_go(pieces[i].iov_base, pieces[i].iov_len);
    }
    return may_go ? all : 0;
}

ssize_t readv(int fd, const struct iovec *to, int count)
{
    ssize_t result;
    const size_t bytes = bytes_that_may_go(to, count);
    const size_t own = bytes ? private_bytes(fd, bytes) : 0;
    if (own)
        return done(read_private(fd, to, own), fd, "readv");
    REPEATED(result, prepare_all(to, count, true),
             syscall(SYS_readv, fd, to, count));
    return done(result, fd, "readv");
}

ssize_t writev(int fd, const struct iovec *from, int count)
{
    ssize_t result;
    REPEATED(result, prepare_all(from, count, false),
             syscall(SYS_writev, fd, from, count));
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
