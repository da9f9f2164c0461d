/* SPDX-License-Identifier: BSD-3-Clause */
#include "meet.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "stream.h"

#define WAIT_S   30
#define PAUSE_NS 20000000
#define TRIES    500 /* of rank 1, after such pauses */

static void bound(int fd)
{
    const struct timeval wait = {.tv_sec = WAIT_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
}

static int new_socket(const struct addrinfo *at)
{
    const int on = 1;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        stream_die("meet", "no socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bound(fd);
    return fd;
}

static int wait_for_rank_1(const struct addrinfo *at)
{
    int listener = new_socket(at);
    if (bind(listener, at->ai_addr, at->ai_addrlen) || listen(listener, 1))
        stream_die("meet", "rank 0 can't listen there");
    int fd = accept(listener, NULL, NULL);
    if (fd < 0)
        stream_die("meet", "rank 1 did not come");
    bound(fd);
    close(listener);
    return fd;
}

static int go_to_rank_0(const struct addrinfo *at)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (unsigned i = 0; i < TRIES; i++) {
        int fd = new_socket(at);
        if (!connect(fd, at->ai_addr, at->ai_addrlen))
            return fd;
        close(fd);
        nanosleep(&pause, NULL);
    }
    stream_die("meet", "rank 0 is not there");
}

meet_t meet_open(const char *rank, const char *place)
{
    const struct addrinfo hints = {.ai_family = AF_INET,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *at;
    char host[256];
    const char *colon = strrchr(place, ':');
    size_t length = colon ? (size_t)(colon - place) : sizeof host;
    meet_t meet = {.rank = !strcmp(rank, "1")};
    if (length >= sizeof host || (strcmp(rank, "0") && !meet.rank))
        stream_die("meet", "allowed: 0 or 1, and HOST:PORT");
    memcpy(host, place, length);
    host[length] = '\0';
    if (getaddrinfo(host, colon + 1, &hints, &at))
        stream_die(place, "no such host and port");
    meet.socket = meet.rank ? go_to_rank_0(at) : wait_for_rank_1(at);
    freeaddrinfo(at);
    return meet;
}

void meet_exchange(const meet_t *meet, const void *mine, void *theirs,
                   size_t bytes)
{
    if (send(meet->socket, mine, bytes, MSG_NOSIGNAL) != (ssize_t)bytes ||
        recv(meet->socket, theirs, bytes, MSG_WAITALL) != (ssize_t)bytes)
        stream_die("meet", "the other rank is gone");
}

void meet_close(const meet_t *meet)
{
    char byte = 0;
    meet_exchange(meet, &byte, &byte, 1);
    close(meet->socket);
}
