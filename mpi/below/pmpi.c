/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "mpi/layer.h"

struct pmpi pmpi;

static const struct {
    const char *name;
    size_t at;
} calls[] = {
#define CALL(name) {"PMPI_" #name, offsetof(struct pmpi, name)},
    PMPI_CALLS(CALL)
#undef CALL
};

/* In place of what the MPI below lacks. A program calls it only if a weak symbol
 * of it was bound before offers.c took the name back. */
static int lacks(void)
{
    pmpi.Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

static void find(void)
{
    guard_late();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(RTLD_DEFAULT, calls[i].name);
        if (!found)
            found = (void *)lacks;
        memcpy((char *)&pmpi + calls[i].at, &found, sizeof found);
    }
    offers_limit();
    atomic_store_explicit(&pmpi.is_found, true, memory_order_release);
}

void pmpi_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
}
