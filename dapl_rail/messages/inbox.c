/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/links/wire.h"

/* The ring of an inbox in which nothing has arrived yet. */
static const struct inbox_entry nothing;

static bool is_made(const struct inbox *box)
{
    return inbox_ring(box) != &nothing;
}

/* Allocates the ring. Threads of several rails may call this at once. */
static int make(struct inbox *box)
{
    struct inbox_entry *none = (struct inbox_entry *)&nothing;
    struct inbox_entry *ring = calloc(box->mask + 1, sizeof *ring);
    if (ring && !atomic_compare_exchange_strong(&box->ring, &none, ring))
        free(ring);
    return is_made(box) ? 0 : DRAIL_ENOMEM;
}

void inbox_defer(struct inbox *box, unsigned capacity)
{
    uint32_t n = 1;
    while (n < capacity)
        n *= 2;
    atomic_init(&box->ring, (struct inbox_entry *)&nothing);
    box->mask = n - 1;
}

int inbox_open(struct inbox *box, unsigned capacity)
{
    inbox_defer(box, capacity);
    return make(box);
}

void inbox_close(struct inbox *box)
{
    if (is_made(box))
        free(inbox_ring(box));
}

/* Does the part contradict the parts that have arrived, or has it arrived
 * before? */
static bool contradicts(const struct inbox_entry *a, const struct wire *wire,
                        unsigned rail, unsigned ep, uint32_t rails,
                        const struct slot *slot)
{
    uint32_t before = atomic_load_explicit(&a->expected, memory_order_acquire);
    if (!before)
        return false;
    return before != rails || a->eps[rail] & EP_BIT(ep) ||
           wire->id != atomic_load_explicit(&a->id, memory_order_relaxed) ||
           (slot ? a->slot != NULL
                 : __builtin_popcount(a->eps[rail]) >= wire->parts);
}

int inbox_put(struct inbox *box, const struct wire *wire, unsigned rail,
              unsigned ep, uint32_t rails, struct slot *slot)
{
    if (wire->seq - box->next > box->mask)
        return -1;
    if (!is_made(box) && make(box))
        return DRAIL_ENOMEM;
    struct inbox_entry *a = &inbox_ring(box)[wire->seq & box->mask];
    if (contradicts(a, wire, rail, ep, rails, slot))
        return -1;
    a->eps[rail] |= (uint8_t)EP_BIT(ep);
    /* parts on other rails store the same values */
    atomic_store_explicit(&a->id, wire->id, memory_order_relaxed);
    atomic_store_explicit(&a->expected, rails, memory_order_release);
    if (slot)
        a->slot = slot;
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
    atomic_store_explicit(&a->expected, 0, memory_order_relaxed);
    atomic_store_explicit(&a->arrived, 0, memory_order_relaxed);
    a->slot = NULL;
    memset(a->eps, 0, sizeof a->eps);
    box->next++;
}

struct inbox_entry *inbox_find(const struct inbox *box, uint32_t seq)
{
    if (seq - box->next > box->mask || !is_made(box))
        return NULL;
    struct inbox_entry *a = &inbox_ring(box)[seq & box->mask];
    return atomic_load_explicit(&a->arrived, memory_order_acquire) ? a : NULL;
}
