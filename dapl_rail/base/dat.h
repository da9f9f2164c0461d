/* SPDX-License-Identifier: BSD-3-Clause */
/* DAT 2.0 and its IB extension, whose header needs socket addresses. */
#ifndef DRAIL_BASE_DAT_H
#define DRAIL_BASE_DAT_H

#include <netinet/in.h>
#include <sys/socket.h>

#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

#endif
