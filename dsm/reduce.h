/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DSM_REDUCE_H
#define DSM_REDUCE_H

#include "dsm/base/space.h"

/* A reduction of 8-byte values by ddsm.operation, looked up when it runs:
 * ddsm.reduce_request is prepared before its operation is known. */
dcoll_reduction_t reduce_current_operation(ddsm_t *d);

#endif
