/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C: lines, in regions (files.c). C++: std::cout, if it is not synchronised
 * with stdio, in barriers. Fortran: standard output and error at the end of
 * each statement of a region that prints, and at the begin of the region; other
 * units of ranks but 0 in barriers, as libgfortran does not close these at the
 * end.
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

enum { STANDARD = 2 };
static const int32_t standard[STANDARD] = {0, 6}; /* error, output */

/* Of a thread: Fortran's statements that it is in, one within another, which
 * hold the locks of their units; and the units it has printed to since. */
static __thread unsigned statements;
static __thread bool has_printed[STANDARD];
static _Atomic unsigned all_statements; /* of all threads */
static _Atomic bool in_region;

static void flush_fortran(void)
{
    for (unsigned i = 0; i < STANDARD && !statements; i++) {
        int32_t unit = standard[i];
        if (has_printed[i] && _gfortran_flush_i4)
            _gfortran_flush_i4(&unit);
        has_printed[i] = false;
    }
}

void railomp_statement_begins(void)
{
    statements++;
    all_statements++;
}

void railomp_statement_ends(int32_t unit)
{
    statements--;
    all_statements--;
    if (memory_ranks() == 1)
        return;
    for (unsigned i = 0; i < STANDARD; i++)
        has_printed[i] |= unit == standard[i];
    if (in_region || memory_rank())
        flush_fortran();
    /* of newunit=, which libgfortran leaves out when it flushes all */
    if (unit < 0 && memory_rank() && !statements && _gfortran_flush_i4)
        _gfortran_flush_i4(&unit);
}

void output_flush_units(void)
{
    if (_gfortran_flush_i4 && memory_rank() && !all_statements)
        _gfortran_flush_i4(NULL);
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
