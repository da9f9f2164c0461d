/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's handles are addresses of its variables. They are looked up at
 * their first use, as a program may be without Open MPI, or load it later. */
#include <dlfcn.h>
#include <mpi.h>

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                                   \
    ({                                                                         \
        static void *_Atomic handle_at; /* threads may look up at once */      \
        if (!handle_at)                                                        \
            handle_at = dlsym(RTLD_DEFAULT, #global);                          \
        (type) handle_at;                                                      \
    })
