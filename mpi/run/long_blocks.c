/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that are too long for dcoll, which their sender and their receiver
 * know, and no other rank: messages of the MPI below, beside the call. */
#include <sched.h>
#include <stdlib.h>

#include "mpi/layer.h"

/* A place for one more request; NULL: no memory. */
static MPI_Request *another(struct messages *m)
{
    MPI_Request *all = realloc(m->all, (size_t)(m->n + 1) * sizeof *all);
    if (!all)
        return NULL;
    m->all = all;
    all[m->n] = MPI_REQUEST_NULL;
    return &all[m->n++];
}

int messages_send(struct messages *m, const struct layer_comm *c,
                  const void *data, MPI_Count count, MPI_Datatype type, int to)
{
    MPI_Request *request = another(m);
    return request
               ? pmpi.Isend(data, (int)count, type, to, 0, c->inner, request)
               : MPI_ERR_NO_MEM;
}

int messages_receive(struct messages *m, const struct layer_comm *c, void *data,
                     MPI_Count count, MPI_Datatype type, int from)
{
    MPI_Request *request = another(m);
    return request
               ? pmpi.Irecv(data, (int)count, type, from, 0, c->inner, request)
               : MPI_ERR_NO_MEM;
}

int messages_test(struct messages *m, int *done)
{
    int rc = pmpi.Testall(m->n, m->all, done, MPI_STATUSES_IGNORE);
    if (rc || *done)
        messages_drop(m);
    return rc;
}

int messages_wait(struct messages *m)
{
    int done = 0, rc = MPI_SUCCESS;
    while (!rc && !done) {
        rc = messages_test(m, &done);
        if (!done)
            sched_yield();
    }
    return rc;
}

void messages_drop(struct messages *m)
{
    for (int i = 0; i < m->n; i++)
        if (m->all[i] != MPI_REQUEST_NULL) {
            pmpi.Cancel(&m->all[i]);
            pmpi.Request_free(&m->all[i]);
        }
    free(m->all);
    *m = (struct messages){0};
}
