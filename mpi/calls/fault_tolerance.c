/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that go on after a rank has died (ULFM). The MPI below agrees on the
 * ranks that are left. The new communicator then gets a team as any other.
 * Ranks that wait for this one by libdcoll must hear that it has left the old
 * communicator: its team is given up.
 */
#include "mpi/comm/comm.h"
#include "mpi/requests/requests.h"

/* Ranks of the MPI below may wait on its inner communicator, too. */
static void give_up(struct layer_comm *c)
{
    if (!c || !c->team)
        return;
    if (!dcoll_team_error(c->team))
        team_revoke(c);
    if (pmpix.Comm_revoke)
        pmpix.Comm_revoke(c->inner);
    give_up(c->request_team);
}

static struct layer_comm *known(MPI_Comm comm)
{
    layer_setup();
    return layer_is_off() ? NULL : layer_comm_find(comm);
}

#pragma GCC visibility push(default)

int MPIX_Comm_revoke(MPI_Comm comm)
{
    pmpi_ready();
    give_up(known(comm));
    return pmpix.Comm_revoke ? pmpix.Comm_revoke(comm)
                             : MPI_ERR_UNSUPPORTED_OPERATION;
}

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *shrunk)
{
    pmpi_ready();
    give_up(known(comm));
    return pmpix.Comm_shrink ? pmpix.Comm_shrink(comm, shrunk)
                             : MPI_ERR_UNSUPPORTED_OPERATION;
}

#pragma GCC visibility pop
