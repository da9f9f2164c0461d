/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameter adopt=1: the provider moves registered private memory into a memfd,
 * so that peers map it (share_pages.h), and back when it is no longer
 * registered. The provider moves only pages that lie wholly within a range. The
 * pages at its ends may hold other data, too, which a forked child may need or
 * a device may write.
 *
 * The pages stay in the memfd as long as a range of this process overlaps them:
 * peers may be writing through that range.
 */
#ifndef DAPL_SHM_ADOPT_H
#define DAPL_SHM_ADOPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

/* A range of any IA of this process that peers may access. */
struct shm_range {
    LIST_ENTRY(shm_range) entry;
    uint64_t base, length;
};

/* The part of a range that peers can map from a file. */
struct shm_file_part {
    int fd; /* -1: there is none */
    ino_t inode;
    uint64_t offset;     /* in the file, of the part */
    uint32_t head, tail; /* bytes of the range before and after the part */
};

/* Adds a range that peers can't access yet, and moves its pages if that is
 * `wanted`, possible and safe. True: *part of the range lies in a memfd, by
 * this call or an earlier one for another range. */
bool shm_range_add(struct shm_range *range, bool wanted,
                   struct shm_file_part *part);
/* Removes a range that peers can't access any more. */
void shm_range_remove(struct shm_range *range);
/* Whether this process can adopt memory; if not, says so on stderr, once. */
bool shm_adopt_possible(void);

#endif
