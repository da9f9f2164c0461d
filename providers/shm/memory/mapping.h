/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies behind a range of this process's memory. */
#ifndef PROVIDERS_SHM_MAPPING_H
#define PROVIDERS_SHM_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct shm_mapping {
    uint64_t offset; /* in the file, of the range's first byte */
    dev_t device;
    ino_t inode;
};

/* Is [base, base + length) within one shared, writable file mapping? */
bool shm_mapping_find(uint64_t base, uint64_t length, struct shm_mapping *m);

/* The same, by its two ways: the kernel is asked for one mapping (Linux 6.11),
 * or tells all of them in text. 1, 0, or -1: not by this way. */
int shm_mapping_ask(uint64_t base, uint64_t length, struct shm_mapping *m);
int shm_mapping_read(uint64_t base, uint64_t length, struct shm_mapping *m);

#endif
