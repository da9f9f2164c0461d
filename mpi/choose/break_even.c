/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A team takes many times as long to make as a short call, and many
 * communicators make few calls: the MPI below serves one until a team, made at
 * its first call, would have saved what it costs. Then at most twice that is
 * lost, however few calls follow.
 */
#include "mpi/layer.h"

#define FIRST_COST 0.01 /* seconds, before one has been made */
#define LEAST      8    /* calls: the ranks agree then, and at powers of two */
/* part of a call's time that a team may save, and so what the ranks pay for a
 * team at most where it saves nothing */
#define HOPE 0.1

static double cost = FIRST_COST;

bool break_even_reached(struct layer_comm *c, MPI_Comm comm)
{
    c->calls++;
    if (c->calls < LEAST || c->calls & (c->calls - 1))
        return false;
    int mine = c->gain >= cost && layer_comm_has_place(), all;
    return !pmpi.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) && all;
}

void break_even_count(struct layer_comm *c, int collective, unsigned class,
                      double seconds)
{
    double saves = verdict_of(c->size, collective, class);
    if (saves == 0)
        c->gain += HOPE * seconds;
    else if (saves > 0)
        c->gain += saves;
}

/* Half of it by those before, as any may have been disturbed. */
void break_even_paid(double seconds)
{
    layer.spent += seconds;
    cost = (cost + seconds) / 2;
}
