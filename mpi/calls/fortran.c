/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives as a Fortran program calls them, with its arguments made
 * those of C: all of Open MPI; of other MPIs the barrier, as the others call
 * the functions of C. */
#include <dlfcn.h>

#include "mpi/calls/fortran.h"
#include "mpi/calls/signatures.h"

bool fortran_is_at(const void *place, const char *name,
                   const void *_Atomic *known)
{
    if (!*known)
        *known = dlsym(RTLD_DEFAULT, name);
    return place && place == *known;
}

static void run(const struct layer_call *a, fint *error)
{
    fortran_tell(error, layer_run(a));
}

static void tell_request(int rc, MPI_Request c_request, fint *request,
                         fint *error)
{
    if (!rc)
        *request = TO_FORTRAN(Request, c_request);
    fortran_tell(error, rc);
}

static void begin(const struct layer_call *a, fint *request, fint *error)
{
    MPI_Request c_request;
    int rc = layer_begin(a, &c_request);
    tell_request(rc, c_request, request, error);
}

static void init(const struct layer_call *a, const fint *info, fint *request,
                 fint *error)
{
    MPI_Request c_request;
    int rc = layer_init(a, FROM_FORTRAN(Info, *info), &c_request);
    tell_request(rc, c_request, request, error);
}

#ifdef OPEN_MPI
static void *buffer_of(void *buffer)
{
    static const void *_Atomic in_place, *_Atomic bottom;
    if (fortran_is_at(buffer, "mpi_fortran_in_place_", &in_place))
        return MPI_IN_PLACE;
    return fortran_is_at(buffer, "mpi_fortran_bottom_", &bottom) ? MPI_BOTTOM
                                                                 : buffer;
}
#endif

/* clang-format off */

/* The types of the kinds of arguments, which are addresses, … */
#define IN_TYPE     char
#define OUT_TYPE    char
#define COUNT_TYPE  fint
#define COUNTS_TYPE fint
#define DISPLS_TYPE fint
#define TYPE_TYPE   fint
#define OP_TYPE     fint
#define RANK_TYPE   fint

/* … and what C has for them. */
#define IN_VALUE(x)     buffer_of(x)
#define OUT_VALUE(x)    buffer_of(x)
#define COUNT_VALUE(x)  *(x)
#define COUNTS_VALUE(x) (x)
#define DISPLS_VALUE(x) (x)
#define TYPE_VALUE(x)   FROM_FORTRAN(Type, *(x))
#define OP_VALUE(x)     FROM_FORTRAN(Op, *(x))
#define RANK_VALUE(x)   *(x)

#define PARAMETER(kind, member) kind##_TYPE *member,
#define MEMBER(kind, member)    .member = kind##_VALUE(member),
#define CALL_OF(NAME, SENT, RECEIVED, MORE)                                    \
    &(const struct layer_call){                                                \
        .collective = LAYER_##NAME,                                            \
        SENT(MEMBER) RECEIVED(MEMBER) MORE(MEMBER)                             \
        .comm = fortran_comm(comm)}

/* A function of each form. */
#define BLOCKING(name, NAME, SENT, RECEIVED, MORE)                             \
    FORTRAN(name, MPI_##NAME,                                                  \
            SENT(PARAMETER) RECEIVED(PARAMETER) MORE(PARAMETER)                \
            fint *comm, fint *error)                                           \
    {                                                                          \
        run(CALL_OF(NAME, SENT, RECEIVED, MORE), error);                       \
    }
#define NONBLOCKING(name, NAME, SENT, RECEIVED, MORE)                          \
    FORTRAN(i##name, MPI_I##NAME,                                              \
            SENT(PARAMETER) RECEIVED(PARAMETER) MORE(PARAMETER)                \
            fint *comm, fint *request, fint *error)                            \
    {                                                                          \
        begin(CALL_OF(NAME, SENT, RECEIVED, MORE), request, error);            \
    }
#define PERSISTENT(name, NAME, SENT, RECEIVED, MORE)                           \
    FORTRAN(name##_init, MPI_##NAME##_INIT,                                    \
            SENT(PARAMETER) RECEIVED(PARAMETER) MORE(PARAMETER)                \
            fint *comm, fint *info, fint *request, fint *error)                \
    {                                                                          \
        init(CALL_OF(NAME, SENT, RECEIVED, MORE), info, request, error);       \
    }
#define FORMS(Name, ...)                                                       \
    BLOCKING(__VA_ARGS__) NONBLOCKING(__VA_ARGS__) PERSISTENT(__VA_ARGS__)

#pragma GCC visibility push(default)

#ifdef OPEN_MPI
REGULAR(FORMS)
ONE_TYPE(FORMS)
BARRIER(FORMS)
#else
BARRIER(FORMS)
#endif

#pragma GCC visibility pop

/* clang-format on */
