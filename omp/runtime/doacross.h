/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops whose iterations wait for others: `ordered` with `depend`. */
#ifndef OMP_RUNTIME_DOACROSS_H
#define OMP_RUNTIME_DOACROSS_H

#include <stddef.h>
#include <stdint.h>

struct thread;

/* As loop_begin(), for iterations that loop_next() returns from @bias on.
 * @counts: the iterations of each loop of the nest.
 * *@mem: how many bytes the threads share besides, then where; NULL: none. */
void doacross_begin(struct thread *t, uint64_t bias, unsigned dimensions,
                    const uint64_t *counts, unsigned schedule, uint64_t chunk,
                    void **mem);

#endif
