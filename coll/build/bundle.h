/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bundles: elements of an irregular collective on their way. A head, then runs
 * (dcoll_traffic_t.labelled), or elements alone. Nothing in it is aligned but
 * the head.
 */
#ifndef DCOLL_BUNDLE_H
#define DCOLL_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

struct bundle_head {
    uint64_t bytes; /**< of the bundle, with the head */
    uint64_t elements;
};

/** Elements that follow each other, from one rank to another. */
struct bundle_run {
    uint32_t dst, src;
    uint32_t first; /**< its first one's number among those from src to dst */
    uint32_t count;
};

#define BUNDLE_HEAD sizeof(struct bundle_head)
#define BUNDLE_RUN  sizeof(struct bundle_run)

#endif
