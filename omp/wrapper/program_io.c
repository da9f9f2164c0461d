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

/* the linker's names */
void __real_flockfile(FILE *file);
void __real_funlockfile(FILE *file);

static void unlock(void *file)
{
    __real_funlockfile(file);
}

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

static ssize_t read_private(int fd, const struct iovec *to, size_t bytes)
{
    ssize_t result;
    void *own = __real_malloc(bytes);
    if (!own)
        return -1;
    pthread_cleanup_push(free_buffer, own);
    result = __read(fd, own, bytes);
    if (result > 0)
        scatter(to, own, (size_t)result);
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

ssize_t readv(int fd, const struct iovec *to, int count)
{
    ssize_t result;
    size_t bytes;
    const size_t own = add_pieces(to, (size_t)count, &bytes) &&
                               pieces_may_go(to, (size_t)count)
                           ? private_bytes(fd, bytes)
                           : 0;
    if (own)
        return done(read_private(fd, to, own), fd, "readv");
    REPEATED(result, prepare_all(to, (size_t)count, true),
             syscall(SYS_readv, fd, to, count));
    return done(result, fd, "readv");
}

ssize_t writev(int fd, const struct iovec *from, int count)
{
    ssize_t result;
    REPEATED(result, prepare_all(from, (size_t)count, false),
             syscall(SYS_writev, fd, from, count));
    return done(result, fd, "writev");
}

/* What the library has no room for in its buffer, the kernel reads to the
 * caller's memory, or writes from there. A page that goes meanwhile would end
 * the call. So it goes through memory of this rank, piece by piece. */
static size_t move_private(char *at, size_t bytes, FILE *file, bool writes)
{
    size_t done = 0, piece, moved;
    char *own = __real_malloc(at_most(bytes, STREAM_MOST));
    if (!own)
        return writes ? _IO_fwrite(at, 1, bytes, file)
                      : _IO_fread(at, 1, bytes, file);
    pthread_cleanup_push(free_buffer, own);
    pthread_cleanup_push(unlock, file);
    __real_flockfile(file);
    do {
        piece = at_most(bytes - done, STREAM_MOST);
        if (writes) {
            railomp_prepare(at + done, piece, false);
            memcpy(own, at + done, piece);
        }
        moved = writes ? _IO_fwrite(own, 1, piece, file)
                       : _IO_fread(own, 1, piece, file);
        if (!writes) {
            railomp_prepare(at + done, moved, true);
            memcpy(at + done, own, moved);
        }
        done += moved;
    } while (moved == piece && done < bytes);
    pthread_cleanup_pop(true);
    pthread_cleanup_pop(true);
    return done;
}

size_t fread(void *to, size_t bytes, size_t count, FILE *file)
{
    size_t all;
    if (__builtin_mul_overflow(bytes, count, &all) || !railomp_may_go(to, all))
        return _IO_fread(to, bytes, count, file);
    return move_private(to, all, file, false) / bytes;
}

size_t fwrite(const void *from, size_t bytes, size_t count, FILE *file)
{
    size_t all;
    if (__builtin_mul_overflow(bytes, count, &all) ||
        !railomp_may_go(from, all))
        return _IO_fwrite(from, bytes, count, file);
    return move_private((char *)from, all, file, true) / bytes;
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
