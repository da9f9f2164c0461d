/* SPDX-License-Identifier: BSD-3-Clause */
/* Equal non-blocking calls use ROTATION requests in turn. With these prepared,
 * a call need not wait for other ranks. */
#ifndef DCOLL_ROTATION_H
#define DCOLL_ROTATION_H

#include "coll/run/request.h"

/* dcoll_prepare: prepares all ROTATION requests that such calls use. */
int rotation_prepare(dcoll_team_t *team, const dcoll_args_t *args,
                     const dcoll_algorithm_t *algorithm);
/* dcoll_would_wait: 0, DRAIL_EAGAIN or DRAIL_ENOTSUP. */
int rotation_would_wait(dcoll_team_t *team, const dcoll_args_t *args,
                        const dcoll_algorithm_t *algorithm);

#endif
