/* SPDX-License-Identifier: BSD-3-Clause */
/* 64-bit atomics that the target serves, inside its own calls. */
#ifndef DRAIL_MESSAGES_REMOTE_ATOMIC_H
#define DRAIL_MESSAGES_REMOTE_ATOMIC_H

#include <stdint.h>

struct slot;
struct wire_atomic;

/* Of link_handlers. */
const char *atomic_asked(struct slot *slot);
const char *atomic_answered(struct slot *slot);

/* Carried out on memory of this process; the old value. */
uint64_t atomic_by_processor(const struct wire_atomic *a);

#endif
