/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals during a fault. All that can wait are blocked until it is served: a
 * handler that leaves by siglongjmp would leave the space held, and pages half
 * fetched.
 */
#ifndef DSM_PAGES_SIGNALS_H
#define DSM_PAGES_SIGNALS_H

#include <signal.h>

/* What the handler of SIGSEGV blocks. SIGSEGV is not among them: a simulated
 * rank waits in a fault while others of its thread run. */
void signals_to_block(sigset_t *set);
/* Back to what was blocked where the fault was; @context: of its handler. */
void signals_as_before(const void *context);
/* Pending signals that end or stop the process do so: nobody waits for a page
 * of a dead rank to end a program. To be called while they are blocked. */
void signals_let_end(void);

#endif
