/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the process's open files. */
#ifndef DRAIL_FILES_H
#define DRAIL_FILES_H

/** Of a connection over one rail: of the shm provider, more than of others. */
#define FILES_PER_LINK 5u

/*
 * Makes room for so many more files, as far as the process's limit allows. The
 * kernel enlarges the table when a file is opened that has no room in it, and
 * where threads share the table that waits for an RCU grace period: for many
 * seconds, where ranks that poll and yield keep the kernel's threads from the
 * cores. So it is done once, before there are threads.
 */
void files_reserve(unsigned more);

#endif
