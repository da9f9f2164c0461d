/* SPDX-License-Identifier: BSD-3-Clause */
/* Anonymous files (memfd) that processes share: what is checked of those that
 * peers send. memfd_sealed makes them. */
#ifndef DAPL_SHM_MEMFD_H
#define DAPL_SHM_MEMFD_H

#include <stdbool.h>
#include <stddef.h>

/* What is mapped by itself lies in units of this: whole pages, of whatever size
 * the kernel was built for (4, 16 or 64 KiB where there is a choice). A
 * constant, so that the data path divides by constants. */
#if defined(__x86_64__) || defined(__i386__)
#define SHM_PAGE 4096
#else
#define SHM_PAGE 65536
#endif

/* Is this descriptor, which a peer sent, a memfd of exactly that size that can
 * be written and can't change its size? */
bool shm_memfd_ok(int fd, size_t size);
/* Is the file sealed against shrinking, so that its pages can't vanish? */
bool shm_cannot_shrink(int fd);

#endif
