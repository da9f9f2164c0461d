/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of TCP connections between ranks. Also for other libraries. */
#ifndef DRAIL_SOCKET_OPTIONS_H
#define DRAIL_SOCKET_OPTIONS_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* For a TCP connection: sends short messages at once, and ends half a minute
 * after the peer's host has vanished. */
static inline void socket_tune(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        /* an idle peer is probed after 10 s, then 5 times, every 4 s */
        {IPPROTO_TCP, TCP_KEEPIDLE, 10},
        {IPPROTO_TCP, TCP_KEEPINTVL, 4},
        {IPPROTO_TCP, TCP_KEEPCNT, 5},
        /* data that are not acknowledged for so many ms end the connection */
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 30000},
    };
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
}

#endif
