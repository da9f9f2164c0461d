/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member listens on a TCP port of its IA's address. The ranks of a group
 * connect to its rank 0, and say which group they mean. A rank may connect
 * before rank 0 creates the group: then the connection waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dapl_rail/platform/socket_options.h"
#include "offload/offload.h"

#define MAGIC    0x64636f32u /* changes when what ranks tell each other does */
#define BACKLOG  1024
#define VISITORS 1024u /* that wait for their group */
#define HELLO_MS 1000  /* for a stranger to say who it is */
#define LOOK_MS                                                                \
    20 /* between two looks at what other groups accepted, or                  \
          while there is no room for a connection */
#define CONNECT_MS 10000 /* it listens before anybody knows its address */

/* What a rank says first. */
struct hello {
    unsigned char token[OFFLOAD_TOKEN];
    uint32_t group, size, rank;
};

struct visitor {
    struct visitor *next;
    struct hello hello;
    size_t heard;  /* bytes of it; not all: it may be a stranger, … */
    int64_t until; /* … which is given so long */
    int fd;
};

/* -------------------------------------------------------------- address --- */

static socklen_t address_of(const struct member_info *info,
                            struct sockaddr_storage *to)
{
    memset(to, 0, sizeof *to);
    if (info->family == AF_INET6) {
        struct sockaddr_in6 *a = (void *)to;
        a->sin6_family = AF_INET6;
        a->sin6_port = info->port;
        a->sin6_scope_id = info->scope;
        memcpy(&a->sin6_addr, info->host, sizeof a->sin6_addr);
        return sizeof *a;
    }
    struct sockaddr_in *a = (void *)to;
    a->sin_family = AF_INET;
    a->sin_port = info->port;
    memcpy(&a->sin_addr, info->host, sizeof a->sin_addr);
    return sizeof *a;
}

static void set_address(struct member_info *info, const struct sockaddr *from)
{
    info->family = from->sa_family;
    if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *a = (const void *)from;
        memcpy(info->host, &a->sin6_addr, sizeof a->sin6_addr);
        info->scope = a->sin6_scope_id;
    } else {
        const struct sockaddr_in *a = (const void *)from;
        memcpy(info->host, &a->sin_addr, sizeof a->sin_addr);
    }
}

/* A port of the address, which the system chooses. */
static int start_listening(struct member *m)
{
    struct sockaddr_storage address;
    socklen_t length = address_of(&m->info, &address);
    int fd = socket((int)m->info.family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&address, length) || listen(fd, BACKLOG) ||
        getsockname(fd, (struct sockaddr *)&address, &length)) {
        close(fd);
        return -1;
    }
    m->info.port = m->info.family == AF_INET6
                       ? ((struct sockaddr_in6 *)&address)->sin6_port
                       : ((struct sockaddr_in *)&address)->sin_port;
    return fd;
}

/* ------------------------------------------------------- begin and end --- */

DAT_RETURN member_create(const char *const *ias, const struct sockaddr *address,
                         void **member, const void **info, DAT_COUNT *bytes)
{
    struct member *m = calloc(1, sizeof *m);
    if (!m)
        return OFFLOAD_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    for (; m->nrails < DRAIL_MAX_RAILS && ias[m->nrails]; m->nrails++)
        snprintf(m->rails[m->nrails], sizeof m->rails[0], "%s", ias[m->nrails]);
    m->users = 1;
    m->info.magic = MAGIC;
    set_address(&m->info, address);
    m->listening = -1;
    if (getrandom(m->info.token, OFFLOAD_TOKEN, 0) == OFFLOAD_TOKEN)
        m->listening = start_listening(m);
    if (m->listening < 0) {
        fprintf(stderr, "libdcoll_dat: rail %s: no port of its address: %s\n",
                ias[0], strerror(errno));
        free(m);
        return OFFLOAD_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
    }
    pthread_mutex_init(&m->lock, NULL);
    *member = m;
    *info = &m->info;
    *bytes = sizeof m->info;
    return DAT_SUCCESS;
}

void member_delete(struct member *m)
{
    for (struct visitor *v = m->visitors, *next; v; v = next) {
        next = v->next;
        close(v->fd);
        free(v);
    }
    close(m->listening);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* ------------------------------------------------------------ accepting --- */

/* Has the other end closed it? */
static bool is_gone(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Receives more of the hello, or sees whether the rank is still there. False:
 * it is gone, or a stranger. */
static bool receive_hello(const struct member *m, struct visitor *v)
{
    size_t left = sizeof v->hello - v->heard;
    if (!left)
        return !is_gone(v->fd);
    ssize_t n = recv(v->fd, (char *)&v->hello + v->heard, left, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        return false;
    v->heard += n > 0 ? (size_t)n : 0;
    return v->heard < sizeof v->hello
               ? offload_now_ms() < v->until
               : !memcmp(v->hello.token, m->info.token, OFFLOAD_TOKEN);
}

/* A connection of this group that waits; -1: none. The lock is held. */
static int take_visitor(struct member *m, uint32_t group, struct visit *visit)
{
    struct visitor **at = &m->visitors, *v;
    while ((v = *at)) {
        bool here = receive_hello(m, v), ours = here &&
                                                v->heard == sizeof v->hello &&
                                                v->hello.group == group;
        if (here && !ours) {
            at = &v->next;
            continue;
        }
        int fd = v->fd;
        *visit = (struct visit){.rank = v->hello.rank, .size = v->hello.size};
        *at = v->next;
        m->visits--;
        free(v);
        if (ours)
            return fd;
        close(fd);
    }
    return -1;
}

/* Adds the next connection to the visitors, if one has come. False: there is no
 * room for it now. The lock is held. */
static bool receive_visitor(struct member *m)
{
    struct visitor *v = calloc(1, sizeof *v);
    int fd = v ? accept4(m->listening, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (fd < 0) {
        bool room =
            v && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED);
        free(v);
        return room;
    }
    if (m->visits == VISITORS) {
        close(fd);
        free(v);
        return false;
    }
    socket_tune(fd);
    v->fd = fd;
    v->until = offload_now_ms() + HELLO_MS;
    v->next = m->visitors;
    m->visitors = v;
    m->visits++;
    return true;
}

int member_accept(struct member *m, uint32_t group, int wake,
                  struct visit *visit)
{
    for (;;) {
        pthread_mutex_lock(&m->lock);
        bool room = receive_visitor(m);
        int fd = take_visitor(m, group, visit);
        bool soon = m->visitors && m->visitors->heard < sizeof(struct hello);
        pthread_mutex_unlock(&m->lock);
        if (fd >= 0 || wake < 0)
            return fd;
        struct pollfd look[] = {
            {.fd = room ? m->listening : -1, .events = POLLIN},
            {.fd = wake, .events = POLLIN}};
        poll(look, 2, soon ? 1 : LOOK_MS);
        if (look[1].revents) {
            errno = ECANCELED;
            return -1;
        }
    }
}

/* ----------------------------------------------------------- connecting --- */

/* Waits until the connection is made. */
static int await_connection(int fd, int wake)
{
    struct pollfd look[] = {{.fd = fd, .events = POLLOUT},
                            {.fd = wake, .events = POLLIN}};
    int why = ETIMEDOUT;
    socklen_t length = sizeof why;
    int n = poll(look, 2, CONNECT_MS);
    if (n > 0 && look[1].revents)
        why = ECANCELED;
    else if (n > 0)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &length);
    errno = why;
    return why ? -1 : 0;
}

static int say_hello(int fd, const struct sockaddr_storage *to,
                     socklen_t length, const struct hello *hello, int wake)
{
    if (connect(fd, (const struct sockaddr *)to, length) &&
        (errno != EINPROGRESS || await_connection(fd, wake)))
        return -1;
    socket_tune(fd);
    return send(fd, hello, sizeof *hello, MSG_NOSIGNAL) == sizeof *hello ? 0
                                                                         : -1;
}

int member_visit(const struct member_info *info, uint32_t group, uint32_t size,
                 uint32_t rank, int wake)
{
    struct sockaddr_storage address;
    socklen_t length = address_of(info, &address);
    struct hello hello = {.group = group, .size = size, .rank = rank};
    memcpy(hello.token, info->token, sizeof hello.token);
    errno = EPROTO;
    int fd = info->magic == MAGIC
                 ? socket(address.ss_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
                 : -1;
    if (fd >= 0 && say_hello(fd, &address, length, &hello, wake)) {
        int why = errno;
        close(fd);
        errno = why;
        fd = -1;
    }
    return fd;
}
