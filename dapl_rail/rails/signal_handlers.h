/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the program's signal handlers. Opening an IA loads its provider, and a
 * library that it needs may install handlers: libinfinipath, which libfabric
 * needs, ends the process at SIGINT and SIGTERM.
 */
#ifndef DRAIL_RAILS_SIGNAL_HANDLERS_H
#define DRAIL_RAILS_SIGNAL_HANDLERS_H

#include <signal.h>

struct signal_handlers {
    struct sigaction of[NSIG];
};

void signal_handlers_save(struct signal_handlers *h);
/* Restores those that have been replaced since. */
void signal_handlers_restore(const struct signal_handlers *h);

#endif
