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
    uint64_t lost;  /**< 0, or elements are missing: for whom, a bit for each
                         rank says, at the end of the bundle's room */
};

/** Elements that follow each other, from one rank to another. */
struct bundle_run {
    uint32_t dst, src;
    uint32_t first; /**< its first one's number among those from src to dst */
    uint32_t count;
};

#define BUNDLE_HEAD sizeof(struct bundle_head)
#define BUNDLE_RUN  sizeof(struct bundle_run)

/** Bytes of these bits, which runs and elements leave free. */
static inline size_t bundle_marks(unsigned nranks)
{
    return (nranks + 8 * BUNDLE_HEAD - 1) / (8 * BUNDLE_HEAD) * BUNDLE_HEAD;
}

#endif
