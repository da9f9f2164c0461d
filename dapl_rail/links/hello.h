/* SPDX-License-Identifier: BSD-3-Clause */
/* What both ends of a connection tell each other when it is made. */
#ifndef DRAIL_LINKS_HELLO_H
#define DRAIL_LINKS_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dat2/udat.h>

struct rail;

/* Private data of a connection request, of its acceptance and rejection.
 * The settings are those of which both ends must have the same. */
struct hello {
    uint32_t magic;
    uint16_t version;
    uint16_t rail;
    uint64_t job;
    uint32_t rank;
    uint32_t depth;
    uint32_t eager_bytes;
    uint16_t attempt; /* of a request: the peer's number of its attempt */
    uint16_t extensions;
    uint32_t eps;
    uint32_t ep; /* index of this one */
};

struct hello hello_of(const struct rail *rail, unsigned ep);
/* A copy of private data, if it is a hello of our job for this rail. */
bool hello_read(const struct rail *rail, const void *data, DAT_COUNT bytes,
                struct hello *hello);
/* Has the peer other settings? Says which, and both values. */
bool hello_differs(const struct rail *rail, const struct hello *hello,
                   char *text, size_t size);

#endif
