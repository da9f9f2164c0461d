/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that looks up functions by name must find those that its MPI has
 * (as PMPI_), and no others. Arguments: the names. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures;

static int is_there(const char *name)
{
    return dlsym(RTLD_DEFAULT, name) != NULL;
}

static int is_below(const char *name)
{
    char below[100];
    snprintf(below, sizeof below, "P%s", name);
    return is_there(below);
}

static void look(const char *name)
{
    int below = is_below(name);
    dlerror();
    int found = is_there(name), error = dlerror() != NULL;
    if (found == below && found != error)
        return;
    fprintf(stderr, "%s: found %d, PMPI_ %d, dlerror %d\n", name, found, below,
            error);
    failures++;
}

int main(int argc, char **argv)
{
    int rank, all;
    for (int i = 1; i < argc; i++)
        look(argv[i]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures, %d names\n", all, argc - 1);
    MPI_Finalize();
    return all != 0;
}
