/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's symbol table: names of its functions and variables. */
#ifndef OMP_RUNTIME_SYMBOLS_H
#define OMP_RUNTIME_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct symbol {
    uintptr_t start;
    size_t bytes;
    const char *name;
    uintptr_t reach; /* the largest end of this and all earlier ones */
};

/* The same in all ranks. Sorted by start; *count is 0 for a stripped program.
 * Stays valid. NULL: out of memory, or the file can't be read. */
const struct symbol *symbols_read(size_t *count);
/* That has the most bytes in [start, start + bytes); NULL: none has. */
const struct symbol *symbols_in(const struct symbol *all, size_t count,
                                uintptr_t start, size_t bytes);

#endif
