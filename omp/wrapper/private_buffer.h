/* SPDX-License-Identifier: BSD-3-Clause */
/* For program_io.c and program_waits.c: what the kernel is to fill while pages
 * may go. __real_malloc() is private to the rank. */
#ifndef OMP_WRAPPER_PRIVATE_BUFFER_H
#define OMP_WRAPPER_PRIVATE_BUFFER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

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

/* Keeps errno. */
static inline bool is_stream(int fd)
{
    const int saved = errno;
    int type = 0;
    socklen_t bytes = sizeof type;
    const int rc = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes);
    errno = saved;
    return !rc && type == SOCK_STREAM;
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

#endif
