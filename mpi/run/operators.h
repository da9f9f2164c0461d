/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MPI_OPERATORS_H
#define MPI_OPERATORS_H

#include <mpi.h>

#include "coll/dcoll.h"

/* An operation on elements of a type, which are in one piece. */
struct operation {
    dcoll_reduction_t reduction;
    /* of one that the MPI below does */
    MPI_Datatype type;
    MPI_Op op;
    void *scratch;
    size_t elements; /* that scratch holds */
    int rc;          /* its first error */
};

/* Is it one that MPI has, or the program's own? What it has on no such type is
 * the program's error. */
bool operators_can(MPI_Datatype type, MPI_Op op);
/* That of libdcoll, which lasts; NULL: it has none. */
const dcoll_reduction_t *operators_basic(MPI_Datatype type, MPI_Op op);
/* Is the result the same, whatever the order of the operands? */
bool operators_are_exact(MPI_Datatype type, MPI_Op op);
/* Of so many bytes an element, which scratch has at least. The operation stays
 * where it is. */
void operators_open(struct operation *o, MPI_Datatype type, MPI_Op op,
                    size_t element, void *scratch, size_t bytes);

#endif
