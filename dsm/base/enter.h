/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is inside a space. */
#ifndef DSM_BASE_ENTER_H
#define DSM_BASE_ENTER_H

#include "dsm/base/space.h"

/* DRAIL_EINVAL: this thread is inside already. */
int space_enter(ddsm_t *d);
void space_leave(ddsm_t *d);
/* Is this thread? */
bool space_is_inside(ddsm_t *d);
/* Others may enter meanwhile. */
void space_step_out(ddsm_t *d, void (*meanwhile)(void *arg), void *arg);

/* drail_guard_t: calls on the job go in where nobody is, or this thread. */
bool space_guard_enter(void *context);
void space_guard_leave(void *context);

#endif
