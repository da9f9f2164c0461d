/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output of a program with several ranks, which languages buffer. */
#ifndef OMP_RUNTIME_OUTPUT_H
#define OMP_RUNTIME_OUTPUT_H

/* Writes what this rank's buffers have: before other ranks may print what comes
 * after it. */
void output_flush(void);
/* The same of Fortran's units, in ranks but 0: in barriers of ranks. */
void output_flush_units(void);
/* Several ranks print from here on, up to the second call. The latter comes in
 * rank 0 only. */
void output_begin_region(void);
void output_end_region(void);

#endif
