/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/base/ring.h"
#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/links/wire.h"

int inbox_open(struct inbox *box, unsigned capacity)
{
    uint32_t places = ring_places(capacity);
    box->mask = places - 1;
    box->ring = calloc(places, sizeof *box->ring);
    return box->ring ? 0 : DRAIL_ENOMEM;
}

void inbox_close(struct inbox *box)
{
    free(box->ring);
}

/* Does the part contradict the parts that have arrived, or has it arrived
 * before? */
static bool contradicts(const struct inbox_entry *a, const struct wire *wire,
                        unsigned rail, unsigned ep, uint32_t rails)
{
    uint32_t before = atomic_load_explicit(&a->expected, memory_order_acquire);
    if (!before)
        return false;
    return before != rails || a->eps[rail] & EP_BIT(ep) ||
           wire->id != atomic_load_explicit(&a->id, memory_order_relaxed) ||
           __builtin_popcount(a->eps[rail]) >= wire->parts;
}

int inbox_put(struct inbox *box, const struct wire *wire, unsigned rail,
              unsigned ep, uint32_t rails)
{
    if (wire->seq - box->next > box->mask)
        return -1;
    struct inbox_entry *a = &box->ring[wire->seq & box->mask];
    if (contradicts(a, wire, rail, ep, rails))
        return -1;
    a->eps[rail] |= (uint8_t)EP_BIT(ep);
    /* parts on other rails store the same values */
    atomic_store_explicit(&a->id, wire->id, memory_order_relaxed);
    atomic_store_explicit(&a->expected, rails, memory_order_release);
    if (__builtin_popcount(a->eps[rail]) < wire->parts)
        return 0;
    if (rails == RAIL_BIT(rail)) /* no other rail adds its bit */
        atomic_store_explicit(&a->arrived, rails, memory_order_release);
    else
        atomic_fetch_or_explicit(&a->arrived, RAIL_BIT(rail),
                                 memory_order_release);
    return 0;
}

void inbox_pop(struct inbox *box)
{
    struct inbox_entry *a = inbox_next(box);
    uint32_t rails = atomic_load_explicit(&a->expected, memory_order_relaxed);
    box->likely = rails | box->last;
    box->last = rails;
    box->seen[0] |= rails;
    atomic_store_explicit(&a->expected, 0, memory_order_relaxed);
    atomic_store_explicit(&a->arrived, 0, memory_order_relaxed);
    memset(a->eps, 0, sizeof a->eps);
    if (++box->next % INBOX_RECENT)
        return;
    box->seen[1] = box->seen[0];
    box->seen[0] = 0;
}
