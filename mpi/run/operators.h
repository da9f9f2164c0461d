/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's types and operations as those of libdcoll. */
#ifndef MPI_OPERATORS_H
#define MPI_OPERATORS_H

#include <mpi.h>

#include "coll/dcoll.h"

/* An operation on contiguous elements of a type. */
struct operation {
    dcoll_reduction_t reduction;
    /* if MPI_Reduce_local does it: */
    MPI_Datatype type;
    MPI_Op op;
    void *scratch;
    size_t elements; /* that fit into scratch */
    int rc;          /* the first MPI error */
};

/* Is the operation defined for the type? The program's own ones always are. */
bool operators_can(MPI_Datatype type, MPI_Op op);
/* libdcoll's own reduction, a constant. NULL: it has none. */
const dcoll_reduction_t *operators_basic(MPI_Datatype type, MPI_Op op);
/* Is the result the same, whatever the order of the operands? */
bool operators_are_exact(MPI_Datatype type, MPI_Op op);
/* @element: bytes. @scratch: @bytes, at least one element. The caller must not
 * move *o, which its reduction points to. */
void operators_open(struct operation *o, MPI_Datatype type, MPI_Op op,
                    size_t element, void *scratch, size_t bytes);

#endif
