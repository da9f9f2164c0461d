/* SPDX-License-Identifier: BSD-3-Clause */
/* For files that define what compilers and omp.h call. Those functions have no
 * declaration here: the compiler makes the calls up, and omp.h of another
 * compiler has other types. */
#ifndef OMP_RUNTIME_INTERFACE_H
#define OMP_RUNTIME_INTERFACE_H

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC visibility push(default)

#endif
