/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics on memory of this rank. */
#ifndef DRAIL_OWN_ATOMIC_H
#define DRAIL_OWN_ATOMIC_H

#include "dapl_rail/dapl_rail.h"

struct wire_atomic;

/* The old value goes to *old. */
int atomic_on_own(drail_t *t, const drail_key_t *key, struct wire_atomic *ask,
                  uint64_t *old);

#endif
