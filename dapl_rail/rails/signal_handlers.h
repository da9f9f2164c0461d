/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To open an IA loads its provider, and what comes along may take over the
 * program's signals: libinfinipath, which libfabric needs, ends the process at
 * SIGINT and SIGTERM. Handlers are the program's.
 */
#ifndef DRAIL_RAILS_SIGNAL_HANDLERS_H
#define DRAIL_RAILS_SIGNAL_HANDLERS_H

#include <signal.h>

struct handlers {
    struct sigaction of[NSIG];
};

void handlers_note(struct handlers *h);
/* Gives back those that were replaced since. */
void handlers_restore(const struct handlers *h);

#endif
