/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/job/rendezvous/address.h"
#include "dapl_rail/job/socket.h"

#define BACKLOG 1024

/* ------------------------------------------------------------------ text */

/* Splits "host:port" or "[host]:port". */
static int split(const char *text, char host[NI_MAXHOST], char port[8])
{
    const char *colon = strrchr(text, ':');
    if (!colon)
        return -1;
    const char *from = text, *end = colon;
    if (*text == '[') {
        from++;
        end--;
        if (end <= from || *end != ']')
            return -1;
    } else if (memchr(text, ':', (size_t)(colon - text))) {
        return -1; /* an IPv6 address without brackets */
    }
    size_t length = (size_t)(end - from),
           digits = strspn(colon + 1, "0123456789");
    if (!length || length >= NI_MAXHOST || !digits || digits > 5 ||
        colon[1 + digits])
        return -1;
    memcpy(host, from, length);
    host[length] = '\0';
    strcpy(port, colon + 1);
    long number = atol(port);
    return number < 1 || number > 65535 ? -1 : 0;
}

static void add(struct addresses *a, const struct sockaddr *where,
                socklen_t bytes)
{
    if (a->count == ADDRESS_MOST || bytes > sizeof a->list->where)
        return;
    struct address *next = &a->list[a->count++];
    memcpy(&next->where, where, bytes);
    next->bytes = bytes;
}

/* 0, or a code of gai_strerror(). */
static int look_up(struct addresses *a, const char *host, const char *port,
                   int flags)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV | flags},
                    *found = NULL;
    int rc = getaddrinfo(host, port, &hints, &found);
    for (struct addrinfo *i = found; !rc && i; i = i->ai_next)
        add(a, i->ai_addr, i->ai_addrlen);
    if (!rc)
        freeaddrinfo(found);
    return rc;
}

int address_find(struct addresses *a, const char *text, drail_error_t *err)
{
    char host[NI_MAXHOST], port[8];
    a->count = 0;
    if (split(text, host, port))
        return error_set(err, DRAIL_EINVAL,
                         "rendezvous '%.64s' is wrong; allowed: host:port or "
                         "[IPv6 address]:port, ports from 1 to 65535",
                         text);
    int rc = look_up(a, host, port, 0);
    return rc ? error_set(err, DRAIL_EINVAL, "rendezvous '%.64s': %s", text,
                          gai_strerror(rc))
              : 0;
}

int address_parse(struct addresses *a, const char *text)
{
    char one[ADDRESS_TEXT], host[NI_MAXHOST], port[8];
    a->count = 0;
    for (; *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        if (length >= sizeof one)
            return DRAIL_EINVAL;
        memcpy(one, text, length);
        one[length] = '\0';
        text += length;
        if (split(one, host, port) || look_up(a, host, port, AI_NUMERICHOST))
            return DRAIL_EINVAL;
    }
    return a->count ? 0 : DRAIL_EINVAL;
}

void address_text(const struct address *a, char text[ADDRESS_TEXT])
{
    char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1], port[8];
    if (getnameinfo((const struct sockaddr *)&a->where, a->bytes, host,
                    sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        snprintf(text, ADDRESS_TEXT, "unknown");
    else
        snprintf(text, ADDRESS_TEXT, strchr(host, ':') ? "[%s]:%s" : "%s:%s",
                 host, port);
}

/* -------------------------------------------------------------- this host */

static bool is_ip(const struct ifaddrs *i)
{
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP))
        return false;
    if (i->ifa_addr->sa_family == AF_INET)
        return true;
    /* a link-local address means nothing on other hosts */
    return i->ifa_addr->sa_family == AF_INET6 &&
           !IN6_IS_ADDR_LINKLOCAL(
               &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)
                    ->sin6_addr);
}

static void add_interfaces(struct addresses *a, const struct ifaddrs *all,
                           unsigned port, bool loopback)
{
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        if (!is_ip(i) || !(i->ifa_flags & IFF_LOOPBACK) == loopback)
            continue;
        union {
            struct sockaddr any;
            struct sockaddr_in v4;
            struct sockaddr_in6 v6;
        } where;
        bool v4 = i->ifa_addr->sa_family == AF_INET;
        socklen_t bytes = v4 ? sizeof where.v4 : sizeof where.v6;
        memcpy(&where, i->ifa_addr, bytes);
        *(v4 ? &where.v4.sin_port : &where.v6.sin6_port) =
            htons((uint16_t)port);
        add(a, &where.any, bytes);
    }
}

int address_own(struct addresses *a, unsigned port, drail_error_t *err)
{
    struct ifaddrs *all;
    a->count = 0;
    if (getifaddrs(&all))
        return error_set(err, DRAIL_EJOB, "getifaddrs: %s", strerror(errno));
    add_interfaces(a, all, port, false);
    if (!a->count)
        add_interfaces(a, all, port, true);
    freeifaddrs(all);
    return a->count
               ? 0
               : error_set(err, DRAIL_EJOB, "this host has no network address");
}

/* --------------------------------------------------------------- sockets */

static int listen_on(const struct address *a)
{
    int on = 1, off = 0, error;
    int fd = socket(a->where.ss_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->where.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (!bind(fd, (const struct sockaddr *)&a->where, a->bytes) &&
        !listen(fd, BACKLOG))
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Some systems give their own name an address such as 127.0.1.1 in /etc/hosts.
 * Other hosts know the name by another address. */
static bool is_alias(const struct address *a)
{
    const struct sockaddr_in *v4 =
        (const struct sockaddr_in *)(const void *)&a->where;
    uint32_t ip = a->where.ss_family == AF_INET ? ntohl(v4->sin_addr.s_addr)
                                                : INADDR_LOOPBACK;
    return ip >> 24 == IN_LOOPBACKNET && ip != INADDR_LOOPBACK;
}

int address_listen(const struct addresses *a, const char *name,
                   drail_error_t *err)
{
    for (unsigned i = 0; i < a->count; i++) {
        struct address one = a->list[i];
        if (is_alias(&one))
            ((struct sockaddr_in *)(void *)&one.where)->sin_addr.s_addr =
                htonl(INADDR_ANY);
        int fd = listen_on(&one);
        if (fd >= 0)
            return fd;
    }
    return error_set(err, DRAIL_EJOB, "rank 0 can't listen at %s: %s%s", name,
                     strerror(errno),
                     errno == EADDRNOTAVAIL
                         ? " (it must run on the host of that address)"
                         : "");
}

int address_listen_any(unsigned *port, drail_error_t *err)
{
    struct address any = {.bytes = sizeof(struct sockaddr_in6)};
    any.where.ss_family = AF_INET6;
    int fd = listen_on(&any);
    if (fd < 0) {
        any.where.ss_family = AF_INET;
        any.bytes = sizeof(struct sockaddr_in);
        fd = listen_on(&any);
    }
    any.bytes = sizeof any.where;
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&any.where, &any.bytes)) {
        error_set(err, DRAIL_EJOB, "rank 0 can't listen: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return DRAIL_EJOB;
    }
    /* IPv4 and IPv6 addresses have the port at the same place */
    *port = ntohs(((struct sockaddr_in *)(void *)&any.where)->sin_port);
    return fd;
}

/* If nobody listens there, the kernel may choose that very port for this end:
 * then the socket is connected to itself. */
static bool is_self(int fd)
{
    struct sockaddr_storage mine = {0}, theirs = {0};
    socklen_t a = sizeof mine, b = sizeof theirs;
    return !getsockname(fd, (struct sockaddr *)&mine, &a) &&
           !getpeername(fd, (struct sockaddr *)&theirs, &b) && a == b &&
           !memcmp(&mine, &theirs, a);
}

static int finish(int fd, struct deadline deadline)
{
    int error = 0;
    socklen_t bytes = sizeof error;
    struct timed_socket s = {.fd = fd, .deadline = deadline};
    if (socket_ready(&s, POLLOUT))
        return ETIMEDOUT;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes))
        error = errno;
    return !error && is_self(fd) ? ECONNREFUSED : error;
}

int address_connect(const struct address *a, struct deadline deadline)
{
    int error = 0;
    int fd = socket(a->where.ss_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    socket_tune(fd);
    if (connect(fd, (const struct sockaddr *)&a->where, a->bytes))
        error = errno == EINPROGRESS ? finish(fd, deadline) : errno;
    else if (is_self(fd))
        error = ECONNREFUSED;
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}
