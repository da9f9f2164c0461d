/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: the begin and the end of Fortran's statements that
 * write or read, which are calls of libgfortran. */
#include <stdint.h>

#include "omp/wrapper/program.h"

/* How the statement's parameters begin (GCC: libgfortran/io/io.h). */
struct parameters {
    int32_t flags, unit;
};

/* Flags. */
enum {
    HAS_FAILED = 3,        /* its iostat= or err= says so */
    IS_INTERNAL = 1 << 14, /* a variable takes a unit's place */
};

/* the linker's names; a program in C has none of them */
#define WRAPPED_CALL(name)                                                     \
    void __real__gfortran_st_##name(struct parameters *p)                      \
        __attribute__((weak));                                                 \
    void __wrap__gfortran_st_##name(struct parameters *p);                     \
    void __wrap__gfortran_st_##name(struct parameters *p)
#define BEGINS(name)                                                           \
    WRAPPED_CALL(name)                                                         \
    {                                                                          \
        if (!(p->flags & IS_INTERNAL))                                         \
            railomp_unit_used(p->unit);                                        \
        railomp_statement_begins();                                            \
        __real__gfortran_st_##name(p);                                         \
    }
#define ENDS(name)                                                             \
    WRAPPED_CALL(name)                                                         \
    {                                                                          \
        const int unit = p->flags & IS_INTERNAL ? INT32_MAX : p->unit;         \
        __real__gfortran_st_##name(p);                                         \
        railomp_statement_ends(unit);                                          \
    }
BEGINS(write)
ENDS(write_done)
BEGINS(read)
ENDS(read_done)

/* libgfortran chooses the number of newunit=, and leaves it there */
WRAPPED_CALL(open)
{
    __real__gfortran_st_open(p);
    if (!(p->flags & HAS_FAILED))
        railomp_unit_opened(p->unit);
}

WRAPPED_CALL(close)
{
    railomp_unit_closed(p->unit);
    __real__gfortran_st_close(p);
}
