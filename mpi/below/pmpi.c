/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the MPI below are looked up. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "mpi/below/below.h"

struct pmpi pmpi;
struct pmpix pmpix;

static const struct {
    const char *name;
    size_t at;
} calls[] = {
#define CALL(name) {"PMPI_" #name, offsetof(struct pmpi, name)},
    PMPI_CALLS
#undef CALL
};

/* Stands for functions that the MPI below lacks. A program calls it only if its
 * weak symbol was bound before exported_names.c hid the name. */
static int unsupported(void)
{
    pmpi.Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

static void find(void)
{
    abi_check_late();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(RTLD_DEFAULT, calls[i].name);
        if (!found)
            found = (void *)unsupported;
        memcpy((char *)&pmpi + calls[i].at, &found, sizeof found);
    }
    *(void **)&pmpix.Comm_revoke = dlsym(RTLD_DEFAULT, "PMPIX_Comm_revoke");
    *(void **)&pmpix.Comm_shrink = dlsym(RTLD_DEFAULT, "PMPIX_Comm_shrink");
    *(void **)&pmpix.Comm_get_failed =
        dlsym(RTLD_DEFAULT, "PMPIX_Comm_get_failed");
    exported_names_hide();
    atomic_store_explicit(&pmpi.is_found, true, memory_order_release);
}

void pmpi_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
}
