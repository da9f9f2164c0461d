/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the process, and whose they are. */
#ifndef DSM_PAGES_FAULT_H
#define DSM_PAGES_FAULT_H

#include "dsm/base/space.h"

/* From now on faults in its view are served. DRAIL_ENOMEM: too many are open
 * in this process. */
int fault_register(ddsm_t *d);
void fault_unregister(ddsm_t *d);

#endif
