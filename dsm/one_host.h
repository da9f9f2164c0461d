/* SPDX-License-Identifier: BSD-3-Clause */
/* DDSM_PAGES_SHARED: ranks of one host map the same memory. */
#ifndef DSM_ONE_HOST_H
#define DSM_ONE_HOST_H

#include "dsm/base/space.h"

/* Collective: if all ranks can, each opens the file that rank 0 has made, as
 * ddsm.fd, and ddsm.is_shared is true. Else it changes nothing. */
int one_host_open(ddsm_t *d);

#endif
