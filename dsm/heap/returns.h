/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks that a rank frees which does not own them. They go to the owner after
 * the rank's next flush, with the position of its log then. The owner uses them
 * again only when it has applied the notices up to there. Else what the rank
 * had written to the block might arrive later than what the next user writes.
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
/* These three do nothing without a heap. Call the first before a flush: what
 * has been freed by now may go to the owners after it. */
void returns_collect(ddsm_t *d);
/* Hands it over, after notices_append(). An error breaks the memory. */
int returns_hand_over(ddsm_t *d);
/* Frees what other ranks have handed over, as far as it is known here. */
void returns_take(ddsm_t *d);
/* Reads 8 bytes of a rank's registered memory to heap.answer. An error breaks
 * the memory. */
int returns_read(ddsm_t *d, unsigned rank, size_t offset);

#endif
