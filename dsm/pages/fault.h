/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serves a fault, in the handler of SIGSEGV, on the stack of the thread that
 * faulted. It may call functions that are not async-signal-safe: the
 * interrupted instruction is an access to the view, and no library holds a lock
 * then, as none touches the view. Other signals wait until the fault is served
 * (signals.h).
 */
#ifndef DSM_PAGES_FAULT_H
#define DSM_PAGES_FAULT_H

#include "dsm/base/space.h"

/* @address lies in the view of @d; @context is the handler's. False: the page
 * is not allocated, so the fault is the program's. In that case, and before
 * ddsm_config_t.failed, the signal mask is restored. */
bool fault_serve(ddsm_t *d, uintptr_t address, void *context);

#endif
