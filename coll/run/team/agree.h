/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_TEAM_AGREE_H
#define DCOLL_TEAM_AGREE_H

#include "dapl_rail/dapl_rail.h"

/* Collective, and allocates nothing: has any rank failed so far? Then all get
 * an error: who has, his own (failed); the others the first one's, and a
 * sentence. */
int team_agree(drail_job_t *job, int failed, int timeout_ms,
               drail_error_t *err);

#endif
