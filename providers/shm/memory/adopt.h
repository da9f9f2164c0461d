/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameter adopt=1: the provider moves registered private memory into a memfd,
 * so that peers map it (share_pages.h), and back when it is no longer
 * registered. Only whole pages within a range are moved: the first and the last
 * one may hold something else, which could be touched after fork, or be written
 * by a device.
 *
 * The pages stay in the memfd as long as any range of this process has some of
 * them: peers may be writing through that range.
 */
#ifndef DAPL_SHM_ADOPT_H
#define DAPL_SHM_ADOPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A range of any IA of this process that peers may access. */
struct shm_range {
    struct shm_range *next, **at;
    uint64_t base, length;
};

/* What of a range lies in a memfd. */
struct shm_adopted_part {
    int fd;
    ino_t inode;
    uint64_t offset;     /* in the file, of the part */
    uint32_t head, tail; /* bytes of the range before and after it */
};

/* Adds a range, before peers may access it, and moves its pages if that is
 * `wanted`, possible and safe. Returns whether a part of it is adopted, by this
 * call or for another range. */
bool shm_range_add(struct shm_range *range, bool wanted,
                   struct shm_adopted_part *part);
/* Takes it out, when peers no longer access it. */
void shm_range_remove(struct shm_range *range);
/* Whether this process can adopt memory; if not, says so on stderr, once. */
bool shm_adopt_possible(void);

#endif
