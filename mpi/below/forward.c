/* SPDX-License-Identifier: BSD-3-Clause */
/* A call by the MPI below: the functions of pmpi.h, found by collective. */
#include "mpi/calls/signatures.h"
#include "mpi/below/below.h"

/* Arguments, with int and with large counts: a member of the call, as its
 * type. */
#define INTS(kind, member)   (kind##_INT) a->member,
#define LARGES(kind, member) (kind##_LARGE) a->member,

/* A function of each form. @P: INTS or LARGES. */
#define BLOCKING(function, P, NAME, SENT, RECEIVED, MORE)                      \
    static int below_##function(const struct layer_call *a)                    \
    {                                                                          \
        return pmpi.function(SENT(P) RECEIVED(P) MORE(P) a->comm);             \
    }
#define NONBLOCKING(function, P, NAME, SENT, RECEIVED, MORE)                   \
    static int below_##function(const struct layer_call *a,                    \
                                MPI_Request *request)                          \
    {                                                                          \
        return pmpi.function(SENT(P) RECEIVED(P) MORE(P) a->comm, request);    \
    }
#define PERSISTENT(function, P, NAME, SENT, RECEIVED, MORE)                    \
    static int below_##function(const struct layer_call *a, MPI_Info info,     \
                                MPI_Request *request)                          \
    {                                                                          \
        return pmpi.function(SENT(P) RECEIVED(P) MORE(P) a->comm, info,        \
                             request);                                         \
    }

#define INT_FORMS(Name, name, ...)                                             \
    BLOCKING(Name, INTS, __VA_ARGS__)                                          \
    NONBLOCKING(I##name, INTS, __VA_ARGS__)                                    \
    PERSISTENT(Name##_init, INTS, __VA_ARGS__)
#define LARGE_FORMS(Name, name, ...)                                           \
    BLOCKING(Name##_c, LARGES, __VA_ARGS__)                                    \
    PERSISTENT(Name##_init_c, LARGES, __VA_ARGS__)
#define LARGE_NONBLOCKING_FORM(Name, name, ...)                                \
    NONBLOCKING(I##name##_c, LARGES, __VA_ARGS__)

COLLECTIVES(INT_FORMS)
#if MPI_VERSION >= 4
LARGE_COLLECTIVES(LARGE_FORMS)
LARGE_NONBLOCKING(LARGE_NONBLOCKING_FORM)
#endif

/* The functions of each collective, with int and with large counts. */
typedef int blocking_call(const struct layer_call *a);
typedef int nonblocking_call(const struct layer_call *a, MPI_Request *request);
typedef int persistent_call(const struct layer_call *a, MPI_Info info,
                            MPI_Request *request);

static const struct functions {
    blocking_call *run;
    nonblocking_call *begin;
    persistent_call *init;
} with_ints[LAYER_COLLECTIVES] = {
#define ROW(Name, name, NAME, ...)                                             \
    [LAYER_##NAME] = {below_##Name, below_I##name, below_##Name##_init},
    COLLECTIVES(ROW)
#undef ROW
};

static const struct functions with_large[LAYER_COLLECTIVES] = {
#if MPI_VERSION >= 4
#define ROW(Name, name, NAME, ...)                                             \
    [LAYER_##                                                                  \
        NAME] = {below_##Name##_c, below_I##name##_c, below_##Name##_init_c},
    REGULAR(ROW)
#undef ROW
#define ROW(Name, name, NAME, ...)                                             \
    [LAYER_##NAME] = {below_##Name##_c, NULL, below_##Name##_init_c},
        IRREGULAR(ROW)
#undef ROW
#endif
};

static const struct functions *functions_of(const struct layer_call *a)
{
    return a->large ? &with_large[a->collective] : &with_ints[a->collective];
}

int below_run(const struct layer_call *a)
{
    return functions_of(a)->run(a);
}

int below_begin(const struct layer_call *a, MPI_Request *request)
{
    return functions_of(a)->begin(a, request);
}

int below_init(const struct layer_call *a, MPI_Info info, MPI_Request *request)
{
    return functions_of(a)->init(a, info, request);
}
