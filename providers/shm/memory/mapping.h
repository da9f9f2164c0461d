/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that is mapped at a range of this process's memory. */
#ifndef PROVIDERS_SHM_MAPPING_H
#define PROVIDERS_SHM_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A mapping, as the kernel tells (Linux 6.11). */
struct shm_vma {
    uint64_t start, end;
    uint64_t offset; /* in the file, of its first byte */
    dev_t device;
    ino_t inode; /* 0: no file */
    int prot;    /* as of mprotect */
    bool shared;
};
static inline bool shm_vma_covers(const struct shm_vma *v, uint64_t base,
                                  uint64_t length)
{
    return v->start <= base && base < v->end && length <= v->end - base;
}
/* The mapping that holds this address, or the next one above it. 1: *vma is it;
 * 0: there is none; -1: the kernel does not say. @p maps: shm_maps_open(). */
int shm_vma_from(int maps, uint64_t address, struct shm_vma *vma);
/* Is this address in the stack of the process? True also if the kernel does not
 * say. */
bool shm_vma_is_stack(int maps, uint64_t address);
/* A descriptor, or -1. It stays that of this process in a forked child. */
int shm_maps_open(void);

struct shm_mapping {
    uint64_t offset; /* in the file, of the range's first byte */
    dev_t device;
    ino_t inode;
};

/* Is [base, base + length) within one shared, writable file mapping? */
bool shm_mapping_find(uint64_t base, uint64_t length, struct shm_mapping *m);

/* The same in two ways: by asking the kernel for one mapping (Linux 6.11), and
 * by reading the text of all of them. 1: yes; 0: no; -1: this way is not
 * available.
 */
int shm_mapping_ask(uint64_t base, uint64_t length, struct shm_mapping *m);
int shm_mapping_read(uint64_t base, uint64_t length, struct shm_mapping *m);

#endif
