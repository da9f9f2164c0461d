/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "coll/run/team/agree.h"

int team_agree(drail_job_t *job, int failed, int timeout_ms, drail_error_t *err)
{
    int32_t mine = failed;
    int32_t all[drail_job_size(
        job)]; /* at most 64 KiB, on the stack: calloc may fail */
    int rc = drail_job_allgather(job, &mine, sizeof mine, all, timeout_ms);
    if (failed)
        return failed;
    if (rc)
        snprintf(err->text, sizeof err->text, "%s", drail_strerror(rc));
    for (unsigned r = 0; !rc && r < drail_job_size(job); r++) {
        rc = all[r];
        if (rc)
            snprintf(err->text, sizeof err->text, "rank %u: %s", r,
                     drail_strerror(rc));
    }
    return rc;
}
