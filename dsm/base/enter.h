/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread of the rank at a time is inside a space. */
#ifndef DSM_BASE_ENTER_H
#define DSM_BASE_ENTER_H

#include "dsm/base/space.h"

/* Waits for the thread that is inside. DRAIL_EINVAL: that is this one. */
int space_enter(ddsm_t *d);
void space_leave(ddsm_t *d);
/* Is this thread inside? */
bool space_is_inside(ddsm_t *d);
/* Leaves, calls @meanwhile, and enters again. */
void space_step_out(ddsm_t *d, void (*meanwhile)(void *arg), void *arg);

/* drail_guard_t of the transport: calls on the job use it only if no other
 * thread is inside. */
bool space_guard_enter(void *context);
void space_guard_leave(void *context);

#endif
