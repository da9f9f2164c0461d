/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C: lines, in regions (files.c). C++: std::cout, if it is not synchronised
 * with stdio, in barriers. Fortran: the end of each statement of a region that
 * prints, and the begin of the region.
 */
#include "omp/runtime/output.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

/* what C++ programs are linked with, and libgfortran's */
void railomp_flush_cxx(void) __attribute__((weak));
void _gfortran_flush_i4(int32_t *unit) __attribute__((weak));

enum { FORTRAN_OUTPUT = 6 };

/* Of a thread: Fortran's statements that it is in, one within another. They
 * hold the locks of their units: so barriers, where another thread may wait
 * within a statement, do not flush units. */
static __thread unsigned statements;
static _Atomic bool has_printed; /* since the last flush */
static _Atomic bool in_region;

static void flush_fortran(void)
{
    int32_t unit = FORTRAN_OUTPUT;
    if (_gfortran_flush_i4 && !statements &&
        atomic_exchange(&has_printed, false))
        _gfortran_flush_i4(&unit);
}

void railomp_statement_begins(void)
{
    statements++;
}

void railomp_statement_ends(int unit)
{
    statements--;
    if (memory_ranks() == 1 || unit != FORTRAN_OUTPUT)
        return;
    has_printed = true;
    if (in_region || memory_rank())
        flush_fortran();
}

void output_begin_region(void)
{
    in_region = true;
    flush_fortran();
    output_flush();
}

void output_end_region(void)
{
    in_region = false;
}

void output_flush(void)
{
    if (memory_ranks() == 1)
        return;
    if (railomp_flush_cxx)
        railomp_flush_cxx();
    fflush(stdout);
}
