/* SPDX-License-Identifier: BSD-3-Clause */
/* The mappings of a space: view, store and twins. */
#ifndef DSM_PAGES_MAP_H
#define DSM_PAGES_MAP_H

#include "dsm/base/space.h"

/* Reserves addresses for the view: at @there or nowhere; NULL: anywhere. False:
 * no room. */
bool map_reserve(ddsm_t *d, void *there);
/* Makes the file of the space's memory, ddsm.fd: map_bytes(), and some behind
 * them. Returns 0, or an errno. */
int map_make_file(ddsm_t *d, size_t behind);
size_t map_bytes(const ddsm_t *d);
void map_drop_file(ddsm_t *d);
/* Maps memory at the reserved view and as the store; makes room for twins,
 * unless ddsm.is_shared. The memory is ddsm.fd's, if that is open. */
int map_open(ddsm_t *d);
void map_close(ddsm_t *d);

#endif
