/* SPDX-License-Identifier: BSD-3-Clause */
/* For rails over which other ranks reach this rank's memory only during its own
 * calls: a thread that makes such calls. */
#ifndef DSM_PROGRESS_THREAD_H
#define DSM_PROGRESS_THREAD_H

#include "dsm/base/space.h"

/* Starts it, if the rails need it. */
int progress_thread_start(ddsm_t *d);
void progress_thread_stop(ddsm_t *d);

#endif
