/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel counts ranges of pages that are protected alike, and has room for
 * some 65,000 of a process (vm.max_map_count). */
#ifndef DSM_PAGES_COALESCE_H
#define DSM_PAGES_COALESCE_H

#include "dsm/base/space.h"

/* pages_set() has found no room: makes one range of all pages, which are to be
 * fetched again, or only made readable again at their home. */
int coalesce_mappings(ddsm_t *d);

#endif
