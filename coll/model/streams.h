/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_STREAMS_H
#define DCOLL_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages under way by receiver, sender and tag. A hash table, as among
 * thousands of ranks most pairs never exchange a message. */

#define STREAM_EMPTY UINT32_MAX

struct stream {
    uint64_t name; /* + 1; 0: the slot is free */
    uint32_t next,
        last; /* messages; STREAM_EMPTY: none. The next WAIT takes next */
};

struct streams {
    struct stream *places;
    size_t mask;
};

/* For at most so many streams. False: out of memory. */
bool streams_open(struct streams *s, size_t most);
void streams_close(struct streams *s);
/* NULL: no message was ever sent. */
struct stream *streams_find(const struct streams *s, uint64_t name);
struct stream *streams_begin(struct streams *s, uint64_t name);

#endif
