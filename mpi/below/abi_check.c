/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is this library made for the program's MPI? Handles are pointers in one MPI
 * and numbers in another, so the wrong library must not touch a call.
 * LD_PRELOAD also reaches programs without MPI (shells, launchers), where the
 * library does nothing. A program may load its MPI later, for one module only
 * (Python does).
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/below/below.h"

/* Binary interfaces; LAYER_MADE_FOR is one of them. */
enum { KIND_OPEN_MPI, KIND_MPICH, KIND_STANDARD };

static const char *const names[] = {
    [KIND_OPEN_MPI] = "Open MPI",
    [KIND_MPICH] = "MPICH and its kind",
    [KIND_STANDARD] = "the standard ABI",
};

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

/* @init: PMPI_Init of the program. */
static int kind_of(void *init)
{
    Dl_info library;
    if (dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world"))
        return KIND_OPEN_MPI;
    return dladdr(init, &library) &&
                   !strncmp(base_of(library.dli_fname), "libmpi_abi.", 11)
               ? KIND_STANDARD
               : KIND_MPICH;
}

/* The wrong library has already taken MPI's names. The only remedy is to
 * execute the program again without it, before main. */
__attribute__((constructor)) static void check_abi(int argc, char **argv)
{
    void *init = dlsym(RTLD_DEFAULT, "PMPI_Init");
    if (!init)
        exported_names_defer();
    if (argc < 1 || !init)
        return;
    if (kind_of(init) == LAYER_MADE_FOR) {
        pmpi_find();
        return;
    }
    fprintf(stderr,
            "dcoll_mpi: this library is for %s, the program's MPI is of %s: "
            "it is inactive\n",
            names[LAYER_MADE_FOR], names[kind_of(init)]);
    if (leave_preload())
        execv("/proc/self/exe", argv);
    fprintf(stderr, "dcoll_mpi: it could not be left out\n");
    _exit(2);
}

/* PMPI_Init of any loaded library, also of a module that keeps its own. */
static void *find_init(void)
{
    struct link_map *map;
    void *self = dlopen(NULL, RTLD_LAZY), *init = NULL;
    if (!self || dlinfo(self, RTLD_DI_LINKMAP, &map))
        return NULL;
    for (; map && !init; map = map->l_next) {
        void *one =
            *map->l_name ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (!one)
            continue;
        init = dlsym(one, "PMPI_Init");
        dlclose(one);
    }
    dlclose(self);
    return init;
}

void abi_check_late(void)
{
    Dl_info library;
    void *init = dlsym(RTLD_DEFAULT, "PMPI_Init");
    if (init)
        return;
    init = find_init();
    /* makes it visible to dlsym */
    if (!init || !dladdr(init, &library) ||
        !dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL)) {
        fprintf(stderr,
                "dcoll_mpi: the program's MPI can't be found: add it to "
                "LD_PRELOAD, after this library\n");
        _exit(2);
    }
    if (kind_of(init) == LAYER_MADE_FOR)
        return;
    fprintf(stderr,
            "dcoll_mpi: this library is for %s, but the program has loaded an "
            "MPI of %s\n",
            names[LAYER_MADE_FOR], names[kind_of(init)]);
    _exit(2);
}
