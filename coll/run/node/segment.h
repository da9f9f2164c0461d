/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the ranks of a node share: a memfd of the node's first rank,
 * which vanishes with the last process that has it open or mapped. */
#ifndef DCOLL_SEGMENT_H
#define DCOLL_SEGMENT_H

#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

struct segment {
    int fd;
    unsigned char *base;
    size_t bytes;
};

/* By which other processes find a segment. */
struct segment_locator {
    pid_t pid;
    int fd;
    uint64_t inode;
};

#define SEGMENT_NONE ((struct segment){.fd = -1})

/* 0 or DRAIL_ENOMEM. Contents: zeros. */
int segment_create(struct segment *s, size_t bytes,
                   struct segment_locator *locator);
/* 0, DRAIL_EPEER (it is not there, or not of this size) or DRAIL_ENOMEM. */
int segment_attach(struct segment *s, size_t bytes,
                   const struct segment_locator *locator);
/* Closes the file, after all ranks have attached; the memory stays mapped. */
void segment_close_file(struct segment *s);
/* Unmaps the memory, too. */
void segment_close(struct segment *s);

#endif
