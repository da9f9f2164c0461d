/* SPDX-License-Identifier: BSD-3-Clause */
/* 64-bit atomics by message: the target's processor executes them inside the
 * target's calls. */
#ifndef DRAIL_MESSAGES_REMOTE_ATOMIC_H
#define DRAIL_MESSAGES_REMOTE_ATOMIC_H

#include <stdint.h>

struct slot;
struct wire_atomic;

/* Of link_handlers. */
const char *atomic_asked(struct slot *slot);
const char *atomic_answered(struct slot *slot);

/* Executes it on memory of this process. Returns the old value. */
uint64_t atomic_by_processor(const struct wire_atomic *a);

#endif
