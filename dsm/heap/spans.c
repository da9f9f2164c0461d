/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/heap/spans.h"

#include <stdlib.h>

enum { LEAST_SHIFT = 4, STEPS = 4, LARGEST = 1 << 15 };

/* 16, 32, 48, 64, then four sizes for each doubling. */
static size_t size_at(unsigned i)
{
    if (i < STEPS)
        return ((size_t)i + 1) << LEAST_SHIFT;
    const unsigned doubling = (i - STEPS) / STEPS;
    const size_t base = (size_t)(STEPS << LEAST_SHIFT) << doubling;
    return base + base / STEPS * ((i - STEPS) % STEPS + 1);
}

/* The least size that fits; all its blocks are aligned if it is a multiple. */
static unsigned size_index(size_t bytes, size_t align)
{
    unsigned i = 0;
    if (bytes > STEPS << LEAST_SHIFT) {
        const unsigned log = 63 - (unsigned)__builtin_clzl(bytes - 1);
        i = STEPS * (log - 5); /* sizes above 1 << log begin here */
    }
    while (size_at(i) < bytes || size_at(i) % align)
        i++;
    return i;
}

static char *address_of(const struct heap *h, uint32_t span)
{
    return h->start + ((h->first + span) << SPAN_SHIFT);
}

static void link_in(struct heap *h, uint32_t i)
{
    struct span *s = &h->span[i];
    s->prev = SPAN_NONE;
    s->next = h->partial[s->size];
    if (s->next != SPAN_NONE)
        h->span[s->next].prev = i;
    h->partial[s->size] = i;
}

static void link_out(struct heap *h, uint32_t i)
{
    const struct span *s = &h->span[i];
    if (s->prev == SPAN_NONE)
        h->partial[s->size] = s->next;
    else
        h->span[s->prev].next = s->next;
    if (s->next != SPAN_NONE)
        h->span[s->next].prev = s->prev;
}

/* First fit. */
static uint32_t take_run(struct heap *h, size_t run, size_t align)
{
    const size_t step = align > SPAN_BYTES ? align : SPAN_BYTES;
    while (h->lowest < h->count && h->span[h->lowest].busy)
        h->lowest++;
    size_t i = h->lowest;
    while (i + run <= h->count) {
        const size_t off = (uintptr_t)address_of(h, (uint32_t)i) & (step - 1);
        size_t n = 0;
        if (off) {
            i += (step - off) >> SPAN_SHIFT;
            continue;
        }
        while (n < run && !h->span[i + n].busy)
            n++;
        if (n < run) {
            i += n + 1;
            continue;
        }
        for (n = 0; n < run; n++)
            h->span[i + n].busy = true;
        return (uint32_t)i;
    }
    return SPAN_NONE;
}

static void give_run(struct heap *h, uint32_t first, size_t run)
{
    for (size_t n = 0; n < run; n++)
        h->span[first + n].busy = false;
    if (first < h->lowest)
        h->lowest = first;
    __atomic_store_n(&h->bytes[first], 0, __ATOMIC_RELAXED);
}

static void used_up_to(struct heap *h, size_t end)
{
    if (h->fresh < end)
        h->fresh = (uint32_t)end;
}

static char *take_large(struct heap *h, size_t bytes, size_t align, bool *zero)
{
    if (bytes > h->count << SPAN_SHIFT)
        return NULL;
    const size_t run = (bytes + SPAN_BYTES - 1) >> SPAN_SHIFT;
    const uint32_t i = take_run(h, run, align);
    if (i == SPAN_NONE)
        return NULL;
    *zero = i >= h->fresh;
    used_up_to(h, i + run);
    h->span[i].run = (uint32_t)run;
    __atomic_store_n(&h->bytes[i], run << SPAN_SHIFT, __ATOMIC_RELAXED);
    return address_of(h, i);
}

static size_t blocks_of(unsigned size)
{
    return SPAN_BYTES / size_at(size);
}

static bool begin_span(struct heap *h, unsigned size)
{
    const size_t blocks = blocks_of(size);
    uint64_t *taken = calloc((blocks + 63) / 64, sizeof *taken);
    const uint32_t i = taken ? take_run(h, 1, 1) : SPAN_NONE;
    if (i == SPAN_NONE) {
        free(taken);
        return false;
    }
    if (blocks % 64) /* bits that stand for no block */
        taken[blocks / 64] = ~(uint64_t)0 << blocks % 64;
    h->span[i].taken = taken;
    h->span[i].size = (uint8_t)size;
    h->span[i].free = (uint16_t)blocks;
    __atomic_store_n(&h->bytes[i], size_at(size), __ATOMIC_RELAXED);
    used_up_to(h, i + 1);
    link_in(h, i);
    return true;
}

static char *take_small(struct heap *h, unsigned size)
{
    if (h->partial[size] == SPAN_NONE && !begin_span(h, size))
        return NULL;
    const uint32_t i = h->partial[size];
    struct span *s = &h->span[i];
    size_t word = 0;
    while (!~s->taken[word])
        word++;
    const unsigned bit = (unsigned)__builtin_ctzll(~s->taken[word]);
    s->taken[word] |= (uint64_t)1 << bit;
    if (--s->free == 0)
        link_out(h, i);
    return address_of(h, i) + (word * 64 + bit) * size_at(size);
}

char *spans_take(struct heap *h, size_t bytes, size_t align, bool *zero)
{
    *zero = false;
    return bytes <= LARGEST && align <= LARGEST
               ? take_small(h, size_index(bytes ? bytes : 1, align))
               : take_large(h, bytes, align, zero);
}

static bool give_small(struct heap *h, uint32_t i, size_t offset)
{
    struct span *s = &h->span[i];
    const size_t size = size_at(s->size), block = offset / size;
    const uint64_t bit = (uint64_t)1 << block % 64;
    if (offset % size || block >= blocks_of(s->size) ||
        !(s->taken[block / 64] & bit))
        return false;
    s->taken[block / 64] &= ~bit;
    if (s->free++ == 0)
        link_in(h, i);
    /* the last span of a size stays, as it is likely to be needed again */
    if (s->free == blocks_of(s->size) &&
        (s->next != SPAN_NONE || s->prev != SPAN_NONE)) {
        link_out(h, i);
        free(s->taken);
        s->taken = NULL;
        give_run(h, i, 1);
    }
    return true;
}

bool spans_give(struct heap *h, const char *block)
{
    const size_t at = (size_t)(block - address_of(h, 0));
    const uint32_t i = (uint32_t)(at >> SPAN_SHIFT);
    struct span *s = &h->span[i];
    if (s->busy && s->taken)
        return give_small(h, i, at & (SPAN_BYTES - 1));
    if (!s->busy || !s->run || at & (SPAN_BYTES - 1))
        return false;
    const uint32_t run = s->run;
    s->run = 0;
    give_run(h, i, run);
    return true;
}
