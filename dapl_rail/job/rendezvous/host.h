/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes share memory. */
#ifndef DRAIL_JOB_HOST_H
#define DRAIL_JOB_HOST_H

#define HOST_BYTES 16u

/*
 * Equal in processes that can share memory: a digest of the boot of the kernel,
 * the name of the host, and the namespaces and file system that shared memory
 * depends on. Only a connection over shared memory proves it.
 */
void host_identify(unsigned char id[HOST_BYTES]);

#endif
