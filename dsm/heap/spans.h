/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of this rank's part of the heap. Call these with heap.mutex held. */
#ifndef DSM_HEAP_SPANS_H
#define DSM_HEAP_SPANS_H

#include "dsm/heap/heap.h"

/* @align: a power of two. @zero: is it zero, as it was never used? NULL: no
 * room in this part. */
char *spans_take(struct heap *h, size_t bytes, size_t align, bool *zero);
/* False: no block begins there. */
bool spans_give(struct heap *h, const char *block);

#endif
