/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of memory that the kernel keeps as one page of its own. */
#ifndef DSM_PAGES_HUGE_H
#define DSM_PAGES_HUGE_H

#include "dsm/base/space.h"

#define HUGE_BYTES ((size_t)2 << 20)

/* These pages are about to be fetched or written. Where much of a piece has
 * been, it is laid together, once; where the kernel can't, nothing happens. */
void huge_use(ddsm_t *d, size_t first, size_t count);

#endif
