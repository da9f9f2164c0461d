/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To open an IA loads its provider, and what comes along may take over the
 * program's signals: libinfinipath, which libfabric needs, ends the process at
 * SIGINT and SIGTERM. Handlers are the program's.
 */
#ifndef DRAIL_RAILS_SIGNAL_HANDLERS_H
#define DRAIL_RAILS_SIGNAL_HANDLERS_H

#include <signal.h>

struct signal_handlers {
    struct sigaction of[NSIG];
};

void signal_handlers_save(struct signal_handlers *h);
/* Gives back those that were replaced since. */
void signal_handlers_restore(const struct signal_handlers *h);

#endif
