/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap before main begins, which is a part of the program's .bss, as the
 * ranks do not share anything yet. Nothing of it is allocated twice. */
#ifndef OMP_RUNTIME_EARLY_H
#define OMP_RUNTIME_EARLY_H

#include <stdbool.h>
#include <stddef.h>

/* NULL: no room. @alignment: a power of two, at least 16. */
void *early_malloc(size_t alignment, size_t bytes);
bool early_has(const void *p);
/* How many bytes it has from there on. */
size_t early_bytes(const void *p);
/* An allocation has failed. */
bool early_is_overfull(void);

#endif
