/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of EPs that pollers walk without a lock. Changes are made under
 * ia->bell_lock. An array that became too small stays until the
 * set is freed, for a poller may still walk it; EPs themselves are never
 * unmapped (object.c).
 */
#include <stdlib.h>

#include "providers/core/internal.h"

static struct core_ep_array *array_new(unsigned cap)
{
    struct core_ep_array *a =
        calloc(1, sizeof *a + cap * sizeof(_Atomic(struct core_ep *)));
    if (a)
        a->cap = cap;
    return a;
}

int core_epset_add(struct core_epset *set, struct core_ep *ep)
{
    struct core_ep_array *a = atomic_load(&set->now);
    unsigned n = a ? atomic_load(&a->n) : 0;
    for (unsigned i = 0; i < n; i++)
        if (!atomic_load(&a->ep[i])) {
            atomic_store_explicit(&a->ep[i], ep, memory_order_release);
            atomic_fetch_add(&set->count, 1);
            return 0;
        }
    if (!a || n == a->cap) {
        struct core_ep_array *b = array_new(a ? 2 * a->cap : 4);
        if (!b)
            return -1;
        for (unsigned i = 0; i < n; i++)
            atomic_init(&b->ep[i], atomic_load(&a->ep[i]));
        atomic_init(&b->n, n);
        b->older = a;
        atomic_store_explicit(&set->now, b, memory_order_release);
        a = b;
    }
    atomic_store(&a->ep[n], ep);
    atomic_store_explicit(&a->n, n + 1, memory_order_release);
    atomic_fetch_add(&set->count, 1);
    return 0;
}

void core_epset_remove(struct core_epset *set, struct core_ep *ep)
{
    struct core_ep_array *a = atomic_load(&set->now);
    unsigned n = a ? atomic_load(&a->n) : 0;
    for (unsigned i = 0; i < n; i++)
        if (atomic_load(&a->ep[i]) == ep) {
            atomic_store(&a->ep[i], NULL);
            atomic_fetch_sub(&set->count, 1);
        }
    while (n && !atomic_load(&a->ep[n - 1]))
        atomic_store(&a->n, --n);
}

void core_epset_free(struct core_epset *set)
{
    struct core_ep_array *a = atomic_load(&set->now), *older;
    for (; a; a = older) {
        older = a->older;
        free(a);
    }
    atomic_store(&set->now, NULL);
}
