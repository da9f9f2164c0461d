/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several eager messages in one request. A provider may hold a send for a
 * moment while the consumer posts many (providers/core/extensions.h). Until it
 * goes, further messages are appended in its send slot, each with its header
 * and at a multiple of GROWING_ALIGN. They use one credit, one receive of the
 * peer and one record of the journal.
 */
#ifndef DRAIL_LINKS_GROWING_H
#define DRAIL_LINKS_GROWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dto;
struct link;
struct wire;

#define GROWING_ALIGN ((size_t)8)

/* The message that was posted last on a link. */
struct growing {
    uint64_t posted;    /* requests posted, with it */
    uint64_t polls;     /* of the rail before it */
    unsigned char *end; /* of its bytes in the send slot */
    size_t room;        /* for more, in bytes; 0: it does not grow */
};

/* May this message grow? If the rail was polled since the last message, it is
 * probably alone, and would use more memory in vain. */
bool growing_begins(const struct link *link, const struct wire *wire,
                    size_t bytes);
/* The message has been posted. */
void growing_posted(struct link *link, const struct dto *d);
/* Appends an eager message to the request that was posted last. It needs no
 * credit. False: it must be sent. */
bool link_append(struct link *link, const struct wire *wire,
                 const void *payload, size_t bytes);

#endif
