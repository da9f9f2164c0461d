/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the space lies in the process. */
#ifndef DSM_PAGES_MAP_H
#define DSM_PAGES_MAP_H

#include "dsm/base/space.h"

/* Keeps addresses for the view: there and nowhere else, or, NULL, where there
 * is room. False: there is none. */
bool map_reserve(ddsm_t *d, void *there);
/* Gives them back. */
void map_release(ddsm_t *d);
/* Pages for it, and the store beside it. */
int map_open(ddsm_t *d);
void map_close(ddsm_t *d);

#endif
