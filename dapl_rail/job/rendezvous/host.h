/* SPDX-License-Identifier: BSD-3-Clause */
/* What tells whether two processes share memory. */
#ifndef DRAIL_JOB_HOST_H
#define DRAIL_JOB_HOST_H

#define HOST_BYTES 16u

/*
 * The same for processes that do: a digest of the kernel's boot, the host's
 * name, and the namespaces and file system that shared memory depends on. Only
 * a connection over shared memory proves it.
 */
void host_identify(unsigned char id[HOST_BYTES]);

#endif
