/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OMP_RUNTIME_PROGRAM_DATA_H
#define OMP_RUNTIME_PROGRAM_DATA_H

#include <stddef.h>

/* The pages of the program's .data and .bss: of its writable segment, without
 * what the dynamic linker has written and protected (-z relro). */
void program_data(void **start, size_t *bytes);

#endif
