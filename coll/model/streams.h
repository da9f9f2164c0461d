/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_STREAMS_H
#define DCOLL_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages on their way from one rank to another, by receiver, sender and tag.
 * A table of those that are used: of thousands of ranks, most pairs never talk.
 */

#define STREAM_EMPTY UINT32_MAX

struct stream {
    uint64_t name;       /* + 1; 0: the place is free */
    uint32_t next, last; /* message that the next WAIT takes; STREAM_EMPTY */
};

struct streams {
    struct stream *places;
    size_t mask;
};

/* For so many at most. False: out of memory. */
bool streams_open(struct streams *s, size_t most);
void streams_close(struct streams *s);
/* NULL: nothing was ever sent. */
struct stream *streams_find(const struct streams *s, uint64_t name);
struct stream *streams_begin(struct streams *s, uint64_t name);

#endif
