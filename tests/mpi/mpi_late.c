/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI that loads a module with MPI (mpi_calls) for itself
 * only, as Python does. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char module[4096];
    snprintf(module, sizeof module, "%s.so", argv[0]);
    void *calls = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    int (*run)(int, char **) = NULL, (*weak)(void) = NULL;
    if (calls) {
        *(void **)&run = dlsym(calls, "main");
        *(void **)&weak = dlsym(calls, "weak_names_are_right");
    }
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (!weak || !weak()) {
        fprintf(stderr, "a weak symbol is not as the MPI below has it\n");
        return 1;
    }
    return run(argc, argv);
}
