/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is slower is not taken: calls of each side are timed, where they are made
 * and as they are made, and the best of either count. */
#include "layer.h"

#define TRIALS 5    /* of each; the first one of ours prepares */
#define GAIN   0.97 /* worth the change */

int contest_turn(const struct contest *c, bool *trial)
{
    *trial = c->calls < 2 * TRIALS;
    return *trial ? (int)(c->calls % 2) : c->ours;
}

int contest_took(struct contest *c, int whose, double seconds, MPI_Comm comm)
{
    double most[2];
    if (c->best[whose] == 0 || seconds < c->best[whose])
        c->best[whose] = seconds;
    if (++c->calls < 2 * TRIALS)
        return MPI_SUCCESS;
    int rc = PMPI_Allreduce(c->best, most, 2, MPI_DOUBLE, MPI_MAX, comm);
    if (rc)
        return rc;
    c->best[CONTEST_BELOW] = most[CONTEST_BELOW];
    c->best[CONTEST_OURS] = most[CONTEST_OURS];
    c->ours = most[CONTEST_OURS] <= GAIN * most[CONTEST_BELOW];
    return MPI_SUCCESS;
}

double contest_gain(const struct contest *c)
{
    return c->best[CONTEST_BELOW] - c->best[CONTEST_OURS];
}
