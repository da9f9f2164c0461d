/* SPDX-License-Identifier: BSD-3-Clause */
/* This rank's part of the shared heap. Blocks are freed where they are freed: a
 * rank keeps them for itself, whichever rank has allocated them. So ranks need
 * not meet, and what the arena knows is private, but for a block's header. */
#ifndef OMP_RUNTIME_ARENA_H
#define OMP_RUNTIME_ARENA_H

#include <stddef.h>

/* From now on new blocks come from there. Older blocks stay valid, unless
 * @forget: then they belong to another rank. */
void arena_use(void *start, size_t bytes, int forget);
/* NULL: no room. @alignment: a power of two, at least 16. Not zeroed. */
void *arena_malloc(size_t alignment, size_t bytes);
void arena_free(void *p);
/* How many bytes the block has. */
size_t arena_bytes(const void *p);

#endif
