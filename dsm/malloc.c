/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared heap: public calls. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsm/base/enter.h"
#include "dsm/heap/returns.h"
#include "dsm/heap/spans.h"

enum { ALIGN = 16 };

bool ddsm_heap_has(const ddsm_t *d, const void *p)
{
    const struct heap *h = d->heap;
    return h && (uintptr_t)p >= (uintptr_t)h->start &&
           (uintptr_t)p - (uintptr_t)h->start < h->spans << SPAN_SHIFT;
}

static char *try_take(struct heap *h, size_t bytes, size_t align, bool *zero)
{
    pthread_mutex_lock(&h->mutex);
    char *p = spans_take(h, bytes, align, zero);
    pthread_mutex_unlock(&h->mutex);
    return p;
}

static void fail(ddsm_t *d, size_t bytes)
{
    if (space_enter(d))
        return;
    space_fail(d, DRAIL_ENOMEM, "no %zu bytes are left of this rank's heap",
               bytes);
    space_leave(d);
}

/* What other ranks have freed may be usable after an acquire. */
static char *take(ddsm_t *d, size_t bytes, size_t align, bool *zero)
{
    if (!d || !d->heap)
        return NULL;
    char *p = try_take(d->heap, bytes, align, zero);
    if (!p && ddsm_acquire(d) == 0)
        p = try_take(d->heap, bytes, align, zero);
    if (!p) {
        fail(d, bytes);
        errno = ENOMEM;
    }
    return p;
}

void *ddsm_malloc(ddsm_t *d, size_t bytes)
{
    bool zero;
    return take(d, bytes, ALIGN, &zero);
}

void *ddsm_calloc(ddsm_t *d, size_t count, size_t bytes)
{
    bool zero;
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    char *p = take(d, all, ALIGN, &zero);
    if (p && !zero)
        memset(p, 0, all);
    return p;
}

void *ddsm_aligned_alloc(ddsm_t *d, size_t align, size_t bytes)
{
    bool zero;
    if (!align || align & (align - 1)) {
        errno = EINVAL;
        return NULL;
    }
    return take(d, bytes, align > ALIGN ? align : ALIGN, &zero);
}

void ddsm_free(ddsm_t *d, void *p)
{
    if (!p)
        return;
    struct heap *h = d ? d->heap : NULL;
    bool known = h && ddsm_heap_has(d, p);
    if (known) {
        const unsigned owner = heap_owner(d, heap_span_of(h, p));
        pthread_mutex_lock(&h->mutex);
        if (owner == d->rank)
            known = spans_give(h, p);
        else
            returns_add(h, owner, p); /* out of memory: the block is lost */
        pthread_mutex_unlock(&h->mutex);
    }
    if (!known) {
        fprintf(stderr, "ddsm_free: no block begins at %p\n", p);
        abort();
    }
}

size_t ddsm_usable_bytes(ddsm_t *d, const void *p)
{
    const struct heap *h = d ? d->heap : NULL;
    if (!h || !ddsm_heap_has(d, p))
        return 0;
    const size_t span = heap_span_of(h, p);
    const unsigned owner = heap_owner(d, span);
    const size_t first = heap_part(d, h->spans, owner);
    if (owner == d->rank)
        return __atomic_load_n(&h->bytes[span - first], __ATOMIC_RELAXED);
    if (space_enter(d))
        return 0;
    int rc = returns_read(d, owner,
                          h->bytes_offset + (span - first) * sizeof *h->bytes);
    const uint64_t bytes = rc ? 0 : *h->answer;
    space_leave(d);
    return bytes;
}

void *ddsm_realloc(ddsm_t *d, void *p, size_t bytes)
{
    if (!p)
        return ddsm_malloc(d, bytes);
    const size_t now = ddsm_usable_bytes(d, p);
    if (now >= bytes && (now <= 2 * bytes || now <= 64))
        return p;
    void *to = ddsm_malloc(d, bytes);
    if (to) {
        memcpy(to, p, now < bytes ? now : bytes);
        ddsm_free(d, p);
    }
    return to;
}
