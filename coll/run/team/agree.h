/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_TEAM_AGREE_H
#define DCOLL_TEAM_AGREE_H

#include "dapl_rail/dapl_rail.h"

/* Has any rank of the job failed so far? All ranks call it. A rank that has
 * failed gets its own error back; the others get the error of the first failed
 * rank and a sentence in err. Allocates nothing. */
int team_agree(drail_job_t *job, int failed, int timeout_ms,
               drail_error_t *err);

#endif
