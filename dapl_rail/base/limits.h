/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and units that all parts agree on. */
#ifndef DRAIL_BASE_LIMITS_H
#define DRAIL_BASE_LIMITS_H

#define CACHE_LINE  64
#define RAIL_BIT(r) (1u << (r))
#define EP_BIT(e)   (1u << (e)) /* one of the EPs of a rail to a peer */
#define DEPTH_MIN   4u
#define MS          1000000ull /* nanoseconds in a millisecond */
/* Longest eager messages. Over a rail that is polled, copying so many bytes
 * twice takes less time than an RDMA write with its acknowledgement. */
#define EAGER_BYTES        4096u
#define EAGER_INLINE_BYTES 8192u /* where they are inline sends */
#define EAGER_POLLED_BYTES 16384u
/* Messages up to this go in pieces instead: over a wire, which would carry more
 * in the two round trips of a rendezvous; within a host, if their memory is not
 * registered, because that takes longer than two copies. */
#define PIECES_BYTES        65536u
#define PIECES_INLINE_BYTES 131072u
#define HEARTBEAT_CHECKS    8u /* within the time of env.silence_ms */

#endif
