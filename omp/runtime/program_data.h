/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OMP_RUNTIME_PROGRAM_DATA_H
#define OMP_RUNTIME_PROGRAM_DATA_H

#include <stddef.h>
#include <stdint.h>

/* The pages of the program's .data and .bss: of its writable segment, without
 * what the dynamic linker has written and protected (-z relro). */
void program_data(void **start, size_t *bytes);
/* A checksum of its code and constants. */
uint64_t program_sum(void);

#endif
