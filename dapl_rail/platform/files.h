/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's table of open files. */
#ifndef DRAIL_FILES_H
#define DRAIL_FILES_H

/** Files of a connection over one rail; most with the shm provider. */
#define FILES_PER_LINK 5u

/*
 * Makes room for so many more files, as far as the limit of the process allows.
 * The kernel enlarges the table when a file does not fit. If threads share the
 * table, this waits for an RCU grace period: many seconds, if ranks that poll
 * and yield keep the kernel's threads off the cores. So call it once, before
 * there are threads.
 */
void files_reserve(unsigned more);

#endif
