/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of a bundle, a message of an irregular all-to-all: a head, then
 * runs (dcoll_traffic_t.labelled) or plain elements. Only the head is aligned.
 */
#ifndef DCOLL_BUNDLE_H
#define DCOLL_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

struct bundle_head {
    uint64_t bytes; /**< of the bundle, with the head */
    uint64_t lost;  /**< not 0: elements are missing; a bit per rank at the end
                       of  the bundle's room tells for which ranks */
};

/** The label of a run: consecutive elements from one rank to another. */
struct bundle_run {
    uint32_t dst, src;
    uint32_t
        first; /**< number of its first element among those from src to dst */
    uint32_t count;
};

#define BUNDLE_HEAD sizeof(struct bundle_head)
#define BUNDLE_RUN  sizeof(struct bundle_run)

/** The bytes of these bits, which runs and elements leave free. */
static inline size_t bundle_marks(unsigned nranks)
{
    return (nranks + 8 * BUNDLE_HEAD - 1) / (8 * BUNDLE_HEAD) * BUNDLE_HEAD;
}

#endif
