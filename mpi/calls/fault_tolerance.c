/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that go on after a rank has died (ULFM). The MPI below agrees on the
 * ranks that are left. The new communicator then gets a team as any other.
 * Ranks that wait for this one by libdcoll must hear that it has left the old
 * communicator: its team is given up. If no rank has died, the program may go
 * on with the old one.
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

static int members(MPI_Comm comm)
{
    int size = 0;
    pmpi.Comm_size(comm, &size);
    return size;
}

/* Does this rank know of a rank that has died? */
static bool lacks_ranks(const struct layer_comm *c, MPI_Comm comm)
{
    MPI_Group failed;
    int n = 0;
    if (c->team && dcoll_team_error(c->team))
        return true;
    if (!pmpix.Comm_get_failed || pmpix.Comm_get_failed(comm, &failed))
        return false;
    pmpi.Group_size(failed, &n);
    pmpi.Group_free(&failed);
    return n > 0;
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
    if (!pmpix.Comm_shrink)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    struct layer_comm *c = known(comm);
    const bool lacks = c && lacks_ranks(c, comm);
    if (lacks)
        give_up(c);
    int rc = pmpix.Comm_shrink(comm, shrunk);
    if (!rc && !lacks && members(*shrunk) < members(comm))
        give_up(c);
    return rc;
}

#pragma GCC visibility pop
