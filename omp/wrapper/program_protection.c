/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: copied pages are protected by their state. */
#include <sys/mman.h>

#include "omp/wrapper/program.h"

/* the linker's names */
int __real_mprotect(void *start, size_t bytes, int protection);
int __wrap_mprotect(void *start, size_t bytes, int protection);

int __wrap_mprotect(void *start, size_t bytes, int protection)
{
    railomp_protects(start, bytes);
    return __real_mprotect(start, bytes, protection);
}
