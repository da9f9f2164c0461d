/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DSM_REDUCE_H
#define DSM_REDUCE_H

#include "dsm/base/space.h"

/* A reduction of 8-byte values by the present d->operation: of ddsm_t.folding,
 * which is prepared before anybody knows which that will be. */
dcoll_reduction_t reduce_current_operation(ddsm_t *d);

#endif
