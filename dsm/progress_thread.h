/* SPDX-License-Identifier: BSD-3-Clause */
/* Where others get at a rank's memory only in its own calls. */
#ifndef DSM_PROGRESS_THREAD_H
#define DSM_PROGRESS_THREAD_H

#include "dsm/base/space.h"

/* Begins a thread that makes such calls, if they are needed. */
int progress_thread_start(ddsm_t *d);
void progress_thread_stop(ddsm_t *d);

#endif
