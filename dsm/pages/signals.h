/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals during a fault. They are blocked until it is served: a handler that
 * leaves by siglongjmp would leave the space entered, and pages half fetched.
 */
#ifndef DSM_PAGES_SIGNALS_H
#define DSM_PAGES_SIGNALS_H

#include <signal.h>

/* The set to block: all but the signals of errors of the thread itself. Not
 * SIGSEGV: while a simulated rank waits in a fault, other ranks run in its
 * thread. */
void signals_to_block(sigset_t *set);
/* Restores the mask of the moment of the fault; @context is the handler's. */
void signals_as_before(const void *context);
/* Lets pending signals take effect whose default action ends or stops the
 * process, so that a program can be ended while a fault waits for a dead rank.
 * Call it while they are blocked. */
void signals_let_end(void);

#endif
