/* SPDX-License-Identifier: BSD-3-Clause */
/* 64-bit atomics by message. */
#ifndef DRAIL_MESSAGES_ATOMIC_H
#define DRAIL_MESSAGES_ATOMIC_H

struct slot;

void atomic_serve(struct slot *slot);

#endif
