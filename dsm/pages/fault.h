/* SPDX-License-Identifier: BSD-3-Clause */
/* The handler of SIGSEGV, and the spaces whose faults it serves. */
#ifndef DSM_PAGES_FAULT_H
#define DSM_PAGES_FAULT_H

#include "dsm/base/space.h"

/* From now on faults in the view of @d are served. Installs the handler for
 * the first space. DRAIL_ENOMEM: too many spaces in this process. */
int fault_register(ddsm_t *d);
/* Removes the handler with the last space, unless it is below another one.
 * Nothing happens if @d is not registered. */
void fault_unregister(ddsm_t *d);

#endif
