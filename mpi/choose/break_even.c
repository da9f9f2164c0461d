/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making a team takes much longer than a short call, and many communicators
 * make few calls. So the MPI below serves a communicator until a team would
 * have saved as much time as it costs. At most twice that cost is lost, even if
 * no calls follow (the ski-rental rule).
 */
#include <pthread.h>

#include "mpi/choose/choose.h"

#define FIRST_COST 0.01 /* seconds of a team, before one has been made */
#define LEAST      8    /* calls; the ranks agree then and at powers of two */
/* part of a call's time that a team is expected to save, before any trial */
#define EXPECTED_SAVING 0.1

static struct {
    pthread_mutex_t lock;
    double cost; /* seconds, of a team */
} expected = {PTHREAD_MUTEX_INITIALIZER, FIRST_COST};

static double expected_cost(void)
{
    pthread_mutex_lock(&expected.lock);
    double cost = expected.cost;
    pthread_mutex_unlock(&expected.lock);
    return cost;
}

bool break_even_reached(struct layer_comm *c, MPI_Comm comm)
{
    c->calls++;
    if (c->calls < LEAST || c->calls & (c->calls - 1))
        return false;
    int mine = c->gain >= expected_cost() && layer_comm_may_have_team(), all;
    return !pmpi.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) && all;
}

void break_even_count(struct layer_comm *c, int collective, unsigned class,
                      double seconds)
{
    double saves = trial_result_of(c->size, collective, class);
    if (saves == 0)
        c->gain += EXPECTED_SAVING * seconds;
    else if (saves > 0)
        c->gain += saves;
}

/* Smoothed, as any one measurement may be disturbed. */
void break_even_paid(struct layer_comm *c, double seconds)
{
    c->spent += seconds;
    pthread_mutex_lock(&expected.lock);
    expected.cost = (expected.cost + seconds) / 2;
    pthread_mutex_unlock(&expected.lock);
}
