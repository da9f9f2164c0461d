/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit on mappings: a range of pages with the same protection is one
 * mapping, and a process may have some 65,000 (vm.max_map_count). */
#ifndef DSM_PAGES_COALESCE_H
#define DSM_PAGES_COALESCE_H

#include "dsm/base/space.h"

/* After DRAIL_ENOMEM of pages_set(): flushes, and makes one mapping of all
 * pages by making them invalid. They are fetched again when they are used; at
 * their home they only become readable again. */
int coalesce_mappings(ddsm_t *d);
/* After pages have been fetched in advance: the same if @rc is DRAIL_ENOMEM. It
 * is no error then, as these pages come by faults, and the sentence is that of
 * @before again. Otherwise returns @rc. */
int coalesce_if_full(ddsm_t *d, int rc, const drail_error_t *before);

#endif
