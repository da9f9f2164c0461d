/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DSM_HEAP_OPEN_H
#define DSM_HEAP_OPEN_H

#include "dsm/base/space.h"

/* After drail_close(), which frees registered memory. Without a heap it does
 * nothing. */
void heap_close(ddsm_t *d);

#endif
