/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that are too long for dcoll. Only their sender and their receiver know
 * of them: they exchange messages of the MPI below, in addition to the call. */
#include <sched.h>
#include <stdlib.h>

#include "mpi/run/run.h"

/* One more request. NULL: no memory. */
static MPI_Request *another(struct long_blocks *m)
{
    MPI_Request *all = realloc(m->all, (size_t)(m->n + 1) * sizeof *all);
    if (!all)
        return NULL;
    m->all = all;
    all[m->n] = MPI_REQUEST_NULL;
    return &all[m->n++];
}

int long_blocks_send(struct long_blocks *m, MPI_Comm comm, const void *data,
                     MPI_Count count, MPI_Datatype type, int to)
{
    MPI_Request *request = another(m);
    return request ? pmpi.Isend(data, (int)count, type, to, 0, comm, request)
                   : MPI_ERR_NO_MEM;
}

int long_blocks_receive(struct long_blocks *m, MPI_Comm comm, void *data,
                        MPI_Count count, MPI_Datatype type, int from)
{
    MPI_Request *request = another(m);
    return request ? pmpi.Irecv(data, (int)count, type, from, 0, comm, request)
                   : MPI_ERR_NO_MEM;
}

int long_blocks_test(struct long_blocks *m, int *done)
{
    int rc = pmpi.Testall(m->n, m->all, done, MPI_STATUSES_IGNORE);
    if (rc || *done)
        long_blocks_drop(m);
    return rc;
}

int long_blocks_wait(struct long_blocks *m)
{
    int done = 0, rc = MPI_SUCCESS;
    while (!rc && !done) {
        rc = long_blocks_test(m, &done);
        if (!done)
            sched_yield();
    }
    return rc;
}

void long_blocks_drop(struct long_blocks *m)
{
    for (int i = 0; i < m->n; i++)
        if (m->all[i] != MPI_REQUEST_NULL) {
            pmpi.Cancel(&m->all[i]);
            pmpi.Request_free(&m->all[i]);
        }
    free(m->all);
    *m = (struct long_blocks){0};
}
