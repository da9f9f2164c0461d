/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a: a checksum, where nobody has a reason to forge one. */
#ifndef DRAIL_FNV_H
#define DRAIL_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_EMPTY UINT64_C(0xcbf29ce484222325)

/* Of what had this checksum, FNV_EMPTY at first, and then these bytes. */
static inline uint64_t fnv_add(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    while (bytes--)
        sum = (sum ^ *at++) * UINT64_C(0x100000001b3);
    return sum;
}

#endif
