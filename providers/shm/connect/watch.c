/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors that the manager's thread waits for (epoll), and waking it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "providers/shm/connect/watch.h"

int shm_watch_add(struct shm_ia *sia, int fd, struct shm_watch what)
{
    if (fd >= sia->watch_size) {
        int size = fd + 64;
        struct shm_watch *w =
            realloc(sia->watch, (size_t)size * sizeof *sia->watch);
        if (!w)
            return -1;
        memset(w + sia->watch_size, 0,
               (size_t)(size - sia->watch_size) * sizeof *w);
        sia->watch = w;
        sia->watch_size = size;
    }
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(sia->epoll_fd, EPOLL_CTL_ADD, fd, &e))
        return -1;
    sia->watch[fd] = what;
    return 0;
}

void shm_watch_set(struct shm_ia *sia, int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.fd = fd};
    epoll_ctl(sia->epoll_fd, EPOLL_CTL_MOD, fd, &e);
}

void shm_watch_remove(struct shm_ia *sia, int fd)
{
    if (fd < 0 || fd >= sia->watch_size)
        return;
    epoll_ctl(sia->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    sia->watch[fd] = (struct shm_watch){0};
}

void shm_watch_wake(struct shm_ia *sia)
{
    uint64_t one = 1;
    while (write(sia->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}
