/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI below: what other folders use. */
#ifndef MPI_BELOW_H
#define MPI_BELOW_H

#include "mpi/layer.h"

/* ---- forward.c ---- */

/* The MPI below makes the call, in each of the forms. An MPI error. */
int below_run(const struct layer_call *call);
int below_begin(const struct layer_call *call, MPI_Request *request);
int below_init(const struct layer_call *call, MPI_Info info,
               MPI_Request *request);

/* ---- abi_check.c ---- */

/* Before the functions of the MPI below are looked up: finds an MPI that was
 * loaded after this library. Ends the program if that is not the one that this
 * library is made for. */
void abi_check_late(void);

/* ---- exported_names.c ---- */

/* The MPI is loaded: hides the functions that it lacks. */
void exported_names_hide(void);
/* No MPI is loaded yet: each name is resolved when one is. */
void exported_names_defer(void);

/* ---- interceptors.c ---- */

/* Does another library get calls that complete requests before this one? */
bool interceptors_complete(void);

#endif
