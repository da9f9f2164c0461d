/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that frees a block of another rank's part returns it to that owner
 * after its next flush, with the position of its log then. The owner uses the
 * block again only when it has applied the notices up to there. Otherwise what
 * the first rank had written to the block might arrive after the writes of the
 * block's next user.
 */
#ifndef DSM_HEAP_RETURNS_H
#define DSM_HEAP_RETURNS_H

#include "dsm/heap/heap.h"

enum { RING_ENTRIES = 512 };
struct returned {
    uint64_t offset; /* in the heap */
    uint64_t position;
};
struct ring {
    _Atomic uint64_t tail;  /* entries that have been written */
    _Atomic uint64_t taken; /* by the owner */
    struct returned entry[RING_ENTRIES];
};

/* Remembers a block of @owner. False: out of memory. With heap.mutex held. */
bool returns_add(struct heap *h, unsigned owner, char *block);
/* These three do nothing without a heap. Call the first before a flush: it
 * marks the blocks that were freed by now. */
void returns_collect(ddsm_t *d);
/* Call it after notices_append(): returns the marked blocks. An error breaks
 * the memory. */
int returns_hand_over(ddsm_t *d);
/* Frees the blocks that other ranks have returned, if their notices have been
 * applied. */
void returns_take(ddsm_t *d);
/* Reads 8 bytes of a rank's registered memory to heap.answer. An error breaks
 * the memory. */
int returns_read(ddsm_t *d, unsigned rank, size_t offset);

#endif
