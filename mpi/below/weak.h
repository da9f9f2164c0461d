/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's handles are addresses in it: absent in programs without it, which
 * may have this library preloaded, too, and not known yet in those that load it
 * later. So they are looked up when they are first used. */
#include <dlfcn.h>
#include <mpi.h>

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                                   \
    ({                                                                         \
        static void *handle_at;                                                \
        if (!handle_at)                                                        \
            handle_at = dlsym(RTLD_DEFAULT, #global);                          \
        (type) handle_at;                                                      \
    })
