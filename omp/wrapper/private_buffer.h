/* SPDX-License-Identifier: BSD-3-Clause */
/* For calls that wait: what the kernel is to fill or to send while pages may
 * go. __real_malloc() is private to the rank. */
#ifndef OMP_WRAPPER_PRIVATE_BUFFER_H
#define OMP_WRAPPER_PRIVATE_BUFFER_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "omp/wrapper/program.h"

void *__real_malloc(size_t bytes);
void __real_free(void *p);

/* Of a stream or a pipe, which may return less than it is asked for. */
enum { STREAM_MOST = 64 << 10 };

/* Keeps errno. For pthread_cleanup_push(), too. */
static inline void free_buffer(void *buffer)
{
    const int saved = errno;
    __real_free(buffer);
    errno = saved;
}

static inline size_t at_most(size_t bytes, size_t most)
{
    return bytes < most ? bytes : most;
}

/* Keeps errno. The program may have a getsockopt() of its own. */
static inline bool is_stream(int fd)
{
    const int saved = errno;
    int type = 0;
    socklen_t bytes = sizeof type;
    const long rc =
        syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &bytes);
    errno = saved;
    return !rc && type == SOCK_STREAM;
}

/* Copies what has been read to the pieces; NULL: it is thrown away … */
static inline void scatter(const struct iovec *to, const char *own,
                           size_t bytes)
{
    for (; bytes; to++) {
        const size_t part = at_most(bytes, to->iov_len);
        if (to->iov_base)
            memcpy(to->iov_base, own, part);
        own += part;
        bytes -= part;
    }
}

/* … and what they have to private memory. */
static inline void gather(char *own, const struct iovec *from, size_t bytes)
{
    for (; bytes; from++) {
        const size_t part = at_most(bytes, from->iov_len);
        if (from->iov_base)
            memcpy(own, from->iov_base, part);
        own += part;
        bytes -= part;
    }
}

/* Too many: the kernel is to find the error. */
static inline void prepare_all(const struct iovec *pieces, size_t count,
                               bool writable)
{
    for (size_t i = 0; count <= IOV_MAX && i < count; i++)
        railomp_prepare(pieces[i].iov_base, pieces[i].iov_len, writable);
}

/* Sets the bytes of all. False: the kernel is to find an error. */
static inline bool add_pieces(const struct iovec *pieces, size_t count,
                              size_t *bytes)
{
    *bytes = 0;
    if (count > IOV_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(*bytes, pieces[i].iov_len, bytes) ||
            *bytes > SSIZE_MAX)
            return false;
    return true;
}

/* May a page of one go? */
static inline bool pieces_may_go(const struct iovec *pieces, size_t count)
{
    bool may_go = false;
    for (size_t i = 0; i < count; i++)
        may_go |= railomp_may_go(pieces[i].iov_base, pieces[i].iov_len);
    return may_go;
}

/* Has the kernel found a page gone? If it does each time, the address is wrong.
 */
static inline bool is_lost(ssize_t result, int *tries)
{
    enum { MOST = 1000 };
    return result < 0 && errno == EFAULT && ++*tries < MOST;
}

/* Sets @result to that of @call, which is made again if a page goes meanwhile
 * that @prepare has brought here. */
#define REPEATED(result, prepare, call)                                        \
    for (int tries_ = 0;;) {                                                   \
        prepare;                                                               \
        if (!is_lost((result) = (call), &tries_))                              \
            break;                                                             \
    }

/* Sets @result to that of @call, which fills @own in place of the caller's @at;
 * then @give copies it. @own is @at if no page of that may go, and NULL if
 * there is no memory. @call is the function of the wrapper's own name: one of
 * another name may be the program's. */
#define BUFFERED(result, own, at, call, give)                                  \
    if ((at) && !(own))                                                        \
        return -1;                                                             \
    pthread_cleanup_push(free_buffer, (own) == (at) ? NULL : (own));           \
    (result) = (call);                                                         \
    if ((result) >= 0 && (own) != (at))                                        \
        give;                                                                  \
    pthread_cleanup_pop(true)

#endif
