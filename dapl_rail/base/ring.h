/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings that are indexed by a mask. */
#ifndef DRAIL_BASE_RING_H
#define DRAIL_BASE_RING_H

/* The least power of two that is not less than the capacity. */
static inline unsigned ring_places(unsigned capacity)
{
    unsigned places = 1;
    while (places < capacity)
        places *= 2;
    return places;
}

#endif
