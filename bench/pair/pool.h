/* SPDX-License-Identifier: BSD-3-Clause */
/* Cores for the threads of an OpenMP pool. */
#ifndef BENCH_POOL_H
#define BENCH_POOL_H

#include "bench/limits/cores.h"

/** Pins the first n threads of the caller's OpenMP pool, itself the first of
 *  them, to cores from the base-th on: regions that it begins later run in
 *  these threads. */
void pool_pin(const cores_t *cores, unsigned base, unsigned n);

#endif
