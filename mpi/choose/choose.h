/* SPDX-License-Identifier: BSD-3-Clause */
/* How the layer finds out which side is faster. */
#ifndef MPI_CHOOSE_H
#define MPI_CHOOSE_H

#include "mpi/comm/comm.h"

/* ---- break_even.c ---- */

/* In each call of a communicator without a team, by all ranks: shall it get
 * one now? */
bool break_even_reached(struct layer_comm *c, MPI_Comm comm);
/* The MPI below has made such a call, in so many seconds. */
void break_even_count(struct layer_comm *c, int collective, unsigned class,
                      double seconds);
/* Its team has been made, in so many seconds. */
void break_even_paid(struct layer_comm *c, double seconds);

/* ---- trial_results.c ---- */

/* Seconds that libdcoll saves in a call, by the latest trial among so many
 * ranks; negative: it costs; 0: not known. */
double trial_result_of(int ranks, int collective, unsigned class);
void trial_result_store(const struct layer_comm *c, int collective,
                        unsigned class, const struct trials *t);
/* Opens the trials of a new team, with the results that all ranks know. */
void trial_results_agree(struct layer_comm *c);

/* ---- stats.c ---- */

/* In MPI_Finalize, by all ranks. */
void stats_print(void);

#endif
