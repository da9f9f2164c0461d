/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes home what this rank has written. */
#ifndef DSM_PAGES_FLUSH_H
#define DSM_PAGES_FLUSH_H

#include "dsm/base/space.h"

/* No page is dirty afterwards, all homes have what was written, and
 * space.written names the pages that hold something new. */
int flush(ddsm_t *d);

#endif
