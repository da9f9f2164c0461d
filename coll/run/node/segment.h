/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_SEGMENT_H
#define DCOLL_SEGMENT_H

#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

/* Memory that the ranks of a node share: a memfd of the node's first rank,
 * which vanishes with the last process that has it. */
struct segment {
    int fd;
    unsigned char *base;
    size_t bytes;
};

/* How the others find it. */
struct segment_locator {
    pid_t pid;
    int fd;
    uint64_t inode;
};

#define SEGMENT_NONE ((struct segment){.fd = -1})

int segment_create(struct segment *s, size_t bytes,
                   struct segment_locator *card);
int segment_attach(struct segment *s, size_t bytes,
                   const struct segment_locator *card);
/* When all have attached. */
void segment_close_file(struct segment *s);
void segment_close(struct segment *s);

#endif
