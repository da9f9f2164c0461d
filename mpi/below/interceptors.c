/* SPDX-License-Identifier: BSD-3-Clause */
/* If another library gets the program's MPI_Wait first and calls PMPI_Wait, the
 * MPI below would take a request of libdcoll for complete. Then all calls that
 * do not block are left to the MPI below. */
#include <dlfcn.h>

#include "mpi/below/below.h"

/* Functions that complete or start requests. */
static const char *const names[] = {
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Request_get_status",
    "MPI_Request_get_status_all",
    "MPI_Request_get_status_any",
    "MPI_Request_get_status_some",
    "MPI_Request_free",
    "MPI_Start",
    "MPI_Startall",
#ifdef OPEN_MPI /* Fortran of other MPIs calls the functions above */
    "mpi_wait_",
    "mpi_waitall_",
    "mpi_waitany_",
    "mpi_waitsome_",
    "mpi_test_",
    "mpi_testall_",
    "mpi_testany_",
    "mpi_testsome_",
    "mpi_request_get_status_",
    "mpi_request_free_",
    "mpi_start_",
    "mpi_startall_",
#endif
};

bool interceptors_complete(void)
{
    Dl_info own, its;
    if (!dladdr((void *)interceptors_complete, &own))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlsym(RTLD_DEFAULT, names[i]);
        if (found && dladdr(found, &its) && its.dli_fbase != own.dli_fbase)
            return true;
    }
    return false;
}
