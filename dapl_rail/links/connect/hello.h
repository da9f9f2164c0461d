/* SPDX-License-Identifier: BSD-3-Clause */
/* What both ends of a connection tell each other when it is made. */
#ifndef DRAIL_LINKS_CONNECT_HELLO_H
#define DRAIL_LINKS_CONNECT_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dat2/udat.h>

struct rail;

/* What the sender of a request wants. */
enum hello_kind {
    HELLO_CONNECTS,
    HELLO_SOLICITS, /* the receiver is to connect: solicit.h */
    HELLO_GIVES_UP, /* the receiver need not wait for it: solicit.h */
};

/* The private data of a connection request, and of its acceptance. */
struct link_hello {
    uint32_t magic;
    uint16_t version;
    uint16_t rail;
    uint64_t transport;
    uint32_t rank;
    uint16_t attempt;   /* of a request: number of the active side's attempt */
    uint16_t ep;        /* index of the EP */
    uint16_t kind;      /* enum hello_kind */
    uint16_t rails;     /* of the connection */
    uint32_t reconnect; /* of a link that is lost: hello_reconnect(); else 0 */
};

/* The link has been lost so often, perhaps never. */
static inline uint32_t hello_reconnect(uint32_t losses)
{
    return 0x80000000 | losses;
}

struct link_hello hello_of(const struct rail *rail, unsigned ep);
/* Copies private data. False: they are no hello of this transport for this
 * rail.
 */
bool hello_read(const struct rail *rail, const void *data, DAT_COUNT bytes,
                struct link_hello *hello);

#endif
