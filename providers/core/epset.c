/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of EPs that pollers walk without a lock. Changes are made under
 * ia->lock and ia->bell_lock. An array that became too small stays until the
 * set is freed, for a poller may still walk it; EPs themselves are never
 * unmapped (object.c).
 */
#include <stdlib.h>

#include "internal.h"

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
    return 0;
}

void core_epset_remove(struct core_epset *set, struct core_ep *ep)
{
    struct core_ep_array *a = atomic_load(&set->now);
    unsigned n = a ? atomic_load(&a->n) : 0;
    for (unsigned i = 0; i < n; i++)
        if (atomic_load(&a->ep[i]) == ep)
            atomic_store(&a->ep[i], NULL);
    while (n && !atomic_load(&a->ep[n - 1]))
        atomic_store(&a->n, --n);
}

void core_progress(struct core_ia *ia, struct core_ep *ep, bool sure)
{
    const struct core_transport *t = ia->transport;
    if (t->ia_progress)
        t->ia_progress(ia, sure);
    else
        t->progress(ep, sure);
}

void core_epset_progress(struct core_ia *ia, struct core_epset *set, bool sure)
{
    const struct core_transport *t = ia->transport;
    if (t->ia_progress) {
        t->ia_progress(ia, sure);
        return;
    }
    /* every poll comes here: the array is looked up once */
    struct core_ep_array *a =
        atomic_load_explicit(&set->now, memory_order_acquire);
    unsigned n = a ? atomic_load_explicit(&a->n, memory_order_acquire) : 0;
    for (unsigned i = 0; i < n; i++) {
        struct core_ep *ep =
            atomic_load_explicit(&a->ep[i], memory_order_acquire);
        if (ep)
            t->progress(ep, sure);
    }
}

uint64_t core_epset_next_due(struct core_ia *ia, struct core_epset *set,
                             uint64_t seen)
{
    const struct core_transport *t = ia->transport;
    uint64_t next = UINT64_MAX;
    if (t->ia_next_due)
        return t->ia_next_due(ia, seen);
    if (!t->next_due)
        return next;
    struct core_ep *ep;
    for (unsigned at = 0; (ep = core_epset_next(set, &at));) {
        uint64_t due = t->next_due(ep, seen);
        next = due < next ? due : next;
    }
    return next;
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
