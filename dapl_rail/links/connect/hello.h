/* SPDX-License-Identifier: BSD-3-Clause */
/* What both ends of a connection tell each other when it is made. */
#ifndef DRAIL_LINKS_CONNECT_HELLO_H
#define DRAIL_LINKS_CONNECT_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dat2/udat.h>

struct rail;

/* Private data of a connection request, and of its acceptance. */
struct hello {
    uint32_t magic;
    uint16_t version;
    uint16_t rail;
    uint64_t transport;
    uint32_t rank;
    uint16_t attempt; /* of a request: the peer's number of its attempt */
    uint16_t ep;      /* index of this one */
    uint16_t knock;   /* the peer is to connect: see solicit.h */
    uint16_t rails;   /* of the connection */
    uint32_t again;   /* for a link that is lost: hello_again(); else 0, which
                         says that it has not been lost yet */
};

/* Of a link that has been lost so often. */
static inline uint32_t hello_again(uint32_t deaths)
{
    return 0x80000000 | deaths;
}

struct hello hello_of(const struct rail *rail, unsigned ep);
/* A copy of private data, if it is a hello of our transport for this rail. */
bool hello_read(const struct rail *rail, const void *data, DAT_COUNT bytes,
                struct hello *hello);

#endif
