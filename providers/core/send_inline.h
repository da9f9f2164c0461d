/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An extension of dat_ep_post_send(), which the shm provider offers. With this
 * flag the segments may lie in any memory of the caller. The provider has
 * copied them when the call returns, as verbs do with IBV_SEND_INLINE. It
 * ignores their lmr_context. DAT_INSUFFICIENT_RESOURCES: there is no room for
 * the bytes now; without the flag the send waits for room.
 *
 * A provider that offers it has the attribute, whose value is the most bytes of
 * such a send.
 */
#ifndef DAPL_CORE_SEND_INLINE_H
#define DAPL_CORE_SEND_INLINE_H

#include <dat2/udat.h>

#define DAPL_MAX_INLINE_SEND  "max_inline_send"
#define DAPL_SEND_INLINE_FLAG 0x10000

#endif
