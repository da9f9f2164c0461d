/* SPDX-License-Identifier: BSD-3-Clause */
/* Huge pages of the kernel below the store. */
#ifndef DSM_PAGES_HUGE_H
#define DSM_PAGES_HUGE_H

#include "dsm/base/space.h"

#define HUGE_BYTES ((size_t)2 << 20)

/* Call it before pages are fetched or written. If a quarter of a 2 MiB block
 * has been used, the kernel is asked, once, to make it a huge page. */
void huge_use(ddsm_t *d, size_t first, size_t count);

#endif
