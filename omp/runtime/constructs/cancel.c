/* SPDX-License-Identifier: BSD-3-Clause */
/* cancel, and ends of constructs that may be cancelled. cancel-var is false:
 * `cancel` has no effect, and all threads run to the end. */
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

bool GOMP_cancel(int what, bool asked)
{
    (void)what, (void)asked;
    return false;
}

bool GOMP_cancellation_point(int what)
{
    (void)what;
    return false;
}

/* A barrier, from which the thread goes on as ever. */
#define BARRIER(name)                                                          \
    bool GOMP_##name(void)                                                     \
    {                                                                          \
        team_barrier(SITE);                                                    \
        return false;                                                          \
    }
BARRIER(barrier_cancel)
BARRIER(loop_end_cancel)
BARRIER(sections_end_cancel)
