/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and units that all parts agree on. */
#ifndef DRAIL_BASE_LIMITS_H
#define DRAIL_BASE_LIMITS_H

#define CACHE_LINE  64
#define RAIL_BIT(r) (1u << (r))
#define EP_BIT(e)   (1u << (e)) /* of a rail's EPs to a peer */
#define DEPTH_MIN   4u
#define MS          1000000ull /* nanoseconds in a millisecond */
/* Copied twice, so many bytes take less than the packets and acknowledgements
 * of an RDMA write over a rail that is polled. */
#define EAGER_PUT_BYTES 16384u
#define HEARTBEAT_CHECKS   8u /* within the time of tuning.silence_ms */

#endif
