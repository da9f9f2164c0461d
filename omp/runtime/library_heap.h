/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OMP_RUNTIME_LIBRARY_HEAP_H
#define OMP_RUNTIME_LIBRARY_HEAP_H

/* From now on libgfortran, if the program has it, allocates on the shared heap:
 * its functions return arrays and strings to the program (matmul, reshape,
 * pack, trim …). The C library does so between railomp_shares_heap(true) and
 * (false) of the same thread. Called once, when the memory is open. */
void library_heap_share(void);

#endif
