/* SPDX-License-Identifier: BSD-3-Clause */
/* 64-bit atomics that the target serves, inside its own calls. */
#ifndef DRAIL_MESSAGES_REMOTE_ATOMIC_H
#define DRAIL_MESSAGES_REMOTE_ATOMIC_H

struct slot;

/* Of link_handlers. */
const char *atomic_asked(struct slot *slot);
const char *atomic_answered(struct slot *slot);

#endif
