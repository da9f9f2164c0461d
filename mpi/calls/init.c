/* SPDX-License-Identifier: BSD-3-Clause */
/* Where MPI and communicators begin and end. */
#include "mpi/comm/comm.h"
#include "mpi/choose/choose.h"

#pragma GCC visibility push(default)

int MPI_Comm_free(MPI_Comm *comm)
{
    pmpi_ready();
    if (comm)
        layer_comm_free(*comm);
    return pmpi.Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    pmpi_ready();
    if (comm)
        layer_comm_free(*comm);
    return pmpi.Comm_disconnect(comm);
}

int MPI_Init(int *argc, char ***argv)
{
    pmpi_ready();
    settings_read();
    int rc = pmpi.Init(argc, argv);
    if (!rc)
        settings_agree();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    pmpi_ready();
    settings_read();
    int rc = pmpi.Init_thread(argc, argv, required, provided);
    if (!rc)
        settings_agree();
    return rc;
}

int MPI_Finalize(void)
{
    layer_setup();
    layer.ended = true; /* calls from attribute callbacks are left */
    if (!layer.off)
        layer_comm_end_all();
    if (layer.stats || layer.verify)
        stats_print();
    return pmpi.Finalize();
}

#pragma GCC visibility pop
