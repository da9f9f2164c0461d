/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics of this rank on its own memory. */
#ifndef DRAIL_OWN_ATOMIC_H
#define DRAIL_OWN_ATOMIC_H

#include "dapl_rail/dapl_rail.h"

struct wire_atomic;

/* *old becomes the value before. */
int atomic_on_own(drail_t *t, const drail_key_t *key, struct wire_atomic *ask,
                  uint64_t *old);

#endif
