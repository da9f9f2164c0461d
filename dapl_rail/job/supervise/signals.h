/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGINT and SIGTERM as events of a descriptor: the caller's own handlers stay
 * in place and do not run meanwhile. */
#ifndef DRAIL_JOB_SUPERVISE_SIGNALS_H
#define DRAIL_JOB_SUPERVISE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* SIGINT, SIGTERM, and with children SIGCHLD, too. The caller blocks them. */
void signals_fill(sigset_t *set, bool children);
/* A descriptor that becomes readable when a signal of the set is pending; -1
 * with errno. */
int signals_open(const sigset_t *set);
/* Takes all pending signals. Was one of them SIGINT or SIGTERM? */
bool signals_read(int fd);

#endif
