/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles are pointers in one MPI and numbers in the other: a library that was
 * made for one must not touch a call of the other. What is preloaded also comes
 * into programs without MPI (shells, launchers), and does nothing there.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer.h"

#ifdef OMPI_MAJOR_VERSION
#define MADE_FOR_OPEN_MPI true
#else
#define MADE_FOR_OPEN_MPI false
#endif

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Takes this library out of LD_PRELOAD. Was it there? */
static bool leave_preload(void)
{
    Dl_info self;
    const char *given = getenv("LD_PRELOAD");
    char *text = given ? strdup(given) : NULL, *left = text, *word;
    char *kept = given ? calloc(1, strlen(given) + 2) : NULL;
    bool found = false;
    if (!kept || !text || !dladdr((void *)leave_preload, &self))
        goto out;
    while ((word = strsep(&left, ": "))) {
        if (!strcmp(base_of(word), base_of(self.dli_fname))) {
            found = true;
        } else if (*word) {
            strcat(kept, *kept ? ":" : "");
            strcat(kept, word);
        }
    }
    if (found)
        setenv("LD_PRELOAD", kept, 1);
out:
    free(kept);
    free(text);
    return found;
}

/* The only way out of names that are taken already: the program once more,
 * before it has begun. */
__attribute__((constructor)) static void guard(int argc, char **argv)
{
    bool open_mpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    if (argc < 1 || !dlsym(RTLD_DEFAULT, "PMPI_Init") ||
        open_mpi == MADE_FOR_OPEN_MPI)
        return;
    fprintf(stderr,
            "dcoll_mpi: this library is for %s, the program's MPI is %s: it "
            "is inactive\n",
            MADE_FOR_OPEN_MPI ? "Open MPI" : "MPICH",
            open_mpi ? "Open MPI" : "one of MPICH's kind");
    if (leave_preload())
        execv("/proc/self/exe", argv);
    fprintf(stderr, "dcoll_mpi: it could not be left out\n");
    _exit(2);
}
