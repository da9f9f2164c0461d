/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of local segments: a part of one, and copies between a list and
 * contiguous memory. */
#ifndef PROVIDERS_CORE_SEGMENTS_H
#define PROVIDERS_CORE_SEGMENTS_H

#include <stdint.h>
#include <string.h>

#include <dat2/udat.h>

#include "dapl_rail/platform/short_copy.h"

/* Copies a list: by a loop, as libc's memcpy costs more for so few bytes (with
 * AVX-512, the next instructions wait). */
static inline void core_segments_copy(DAT_LMR_TRIPLET *to,
                                      const DAT_LMR_TRIPLET *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i];
}

/* Lists the part [at, at + len) of the segments, as far as these reach. Returns
 * how many segments it has; out: as many as there are. */
static inline uint32_t core_slice(uint32_t nseg, const DAT_LMR_TRIPLET *seg,
                                  uint64_t at, uint64_t len,
                                  DAT_LMR_TRIPLET *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < nseg && len; i++) {
        uint64_t have = seg[i].segment_length;
        if (at >= have) {
            at -= have;
            continue;
        }
        uint64_t use = have - at < len ? have - at : len;
        out[n] = seg[i];
        out[n].virtual_address += at;
        out[n++].segment_length = (DAT_SEG_LENGTH)use;
        len -= use;
        at = 0;
    }
    return n;
}

/* A function like memcpy. */
typedef void *(*core_mover_t)(void *to, const void *from, size_t bytes);

/* Copies all segments to memory that has room for them. */
static inline void core_gather_by(core_mover_t move, void *to, uint32_t nseg,
                                  const DAT_LMR_TRIPLET *seg)
{
    unsigned char *at = to;
    for (uint32_t i = 0; i < nseg; i++) {
        size_t len = seg[i].segment_length;
        if (len) /* else the address may be anything */
            move(at, (const void *)(uintptr_t)seg[i].virtual_address, len);
        at += len;
    }
}

static inline void core_gather(void *to, uint32_t nseg,
                               const DAT_LMR_TRIPLET *seg)
{
    core_gather_by(short_copy, to, nseg, seg);
}

/* Copies so many bytes into the segments, as far as these reach. */
static inline void core_scatter_by(core_mover_t move, uint32_t nseg,
                                   const DAT_LMR_TRIPLET *seg, const void *from,
                                   uint64_t bytes)
{
    const unsigned char *at = from;
    for (uint32_t i = 0; i < nseg && bytes; i++) {
        size_t len = seg[i].segment_length < bytes ? seg[i].segment_length
                                                   : (size_t)bytes;
        if (len)
            move((void *)(uintptr_t)seg[i].virtual_address, at, len);
        at += len;
        bytes -= len;
    }
}

static inline void core_scatter(uint32_t nseg, const DAT_LMR_TRIPLET *seg,
                                const void *from, uint64_t bytes)
{
    core_scatter_by(short_copy, nseg, seg, from, bytes);
}

#endif
