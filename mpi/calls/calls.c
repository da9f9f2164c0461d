/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives as a C program calls them, of all forms: each packs its
 * arguments into a struct layer_call. */
#include "mpi/calls/signatures.h"
#include "mpi/layer.h"

/* Parameters of a function, with int and with large counts. */
#define INTS(kind, member)   kind##_INT member,
#define LARGES(kind, member) kind##_LARGE member,

/* clang-format off */
#define MEMBER(kind, member) .member = member,
#define CALL_OF(NAME, SENT, RECEIVED, MORE, is_large)                          \
    &(const struct layer_call){                                                \
        .collective = LAYER_##NAME,                                            \
        SENT(MEMBER) RECEIVED(MEMBER) MORE(MEMBER)                             \
        .comm = comm, .large = is_large}
/* clang-format on */

/* A function of each form. @P: INTS or LARGES. */
#define BLOCKING(function, P, is_large, NAME, SENT, RECEIVED, MORE)            \
    int function(SENT(P) RECEIVED(P) MORE(P) MPI_Comm comm)                    \
    {                                                                          \
        return layer_run(CALL_OF(NAME, SENT, RECEIVED, MORE, is_large));       \
    }
#define NONBLOCKING(function, P, is_large, NAME, SENT, RECEIVED, MORE)         \
    int function(SENT(P) RECEIVED(P) MORE(P) MPI_Comm comm,                    \
                 MPI_Request *request)                                         \
    {                                                                          \
        return layer_begin(CALL_OF(NAME, SENT, RECEIVED, MORE, is_large),      \
                           request);                                           \
    }
#define PERSISTENT(function, P, is_large, NAME, SENT, RECEIVED, MORE)          \
    int function(SENT(P) RECEIVED(P) MORE(P) MPI_Comm comm, MPI_Info info,     \
                 MPI_Request *request)                                         \
    {                                                                          \
        return layer_init(CALL_OF(NAME, SENT, RECEIVED, MORE, is_large), info, \
                          request);                                            \
    }

#define INT_FORMS(Name, name, ...)                                             \
    BLOCKING(MPI_##Name, INTS, false, __VA_ARGS__)                             \
    NONBLOCKING(MPI_I##name, INTS, false, __VA_ARGS__)                         \
    PERSISTENT(MPI_##Name##_init, INTS, false, __VA_ARGS__)
#define LARGE_FORMS(Name, name, ...)                                           \
    BLOCKING(MPI_##Name##_c, LARGES, true, __VA_ARGS__)                        \
    PERSISTENT(MPI_##Name##_init_c, LARGES, true, __VA_ARGS__)
#define LARGE_NONBLOCKING_FORM(Name, name, ...)                                \
    NONBLOCKING(MPI_I##name##_c, LARGES, true, __VA_ARGS__)

#pragma GCC visibility push(default)

COLLECTIVES(INT_FORMS)
#if MPI_VERSION >= 4
LARGE_COLLECTIVES(LARGE_FORMS)
LARGE_NONBLOCKING(LARGE_NONBLOCKING_FORM)
#endif

#pragma GCC visibility pop
