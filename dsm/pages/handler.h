/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's handler of SIGSEGV, and the spaces whose faults it serves. */
#ifndef DSM_PAGES_HANDLER_H
#define DSM_PAGES_HANDLER_H

#include "dsm/base/space.h"

/* From now on faults in a range of pages of @d are served. Installs the handler
 * for the first space. DRAIL_ENOMEM: too many ranges in this process. */
int handler_add(ddsm_t *d, const char *start, size_t bytes);
/* Removes the handler with the last space, unless it is below another one.
 * Nothing happens if @d was not added. */
void handler_remove(ddsm_t *d);

#endif
