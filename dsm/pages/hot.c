/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/hot.h"

#include "dsm/pages/pack.h"

/* How many releases more. A comparison takes about 1/50 of a fault and a
 * protection. At its home, an unchanged page costs other ranks a fetch. */
static uint8_t releases_of(const ddsm_t *d, size_t page)
{
    enum { AWAY = 32, AT_HOME = 8 };
    return d->page[page].home == d->rank ? AT_HOME : AWAY;
}

void hot_begin(ddsm_t *d, size_t page)
{
    struct page *p = &d->page[page];
    const bool again = p->written_in == d->interval;
    p->scattered &= again;
    p->hot = again && !p->scattered ? releases_of(d, page) : 0;
    p->stayed = false;
}

void hot_take_out(ddsm_t *d)
{
    struct page_list *dirty = &d->dirty;
    size_t left = 0;
    for (size_t i = 0; i < dirty->count; i++) {
        const uint32_t page = dirty->page[i];
        if (d->page[page].hot && d->hot_count < HOT_PAGES)
            d->hot[d->hot_count++] = page;
        else
            dirty->page[left++] = page;
    }
    dirty->count = left;
}

void hot_put_back(ddsm_t *d)
{
    for (; d->hot_count; d->hot_count--) {
        const uint32_t page = d->hot[d->hot_count - 1];
        d->page[page].stayed = true;
        d->dirty.page[d->dirty.count++] = page;
    }
}

void hot_count(ddsm_t *d, size_t page, unsigned pieces)
{
    struct page *p = &d->page[page];
    p->scattered = pieces > PACK_PIECES;
    if (p->scattered)
        p->hot = 0;
    else
        p->hot = pieces ? releases_of(d, page) : p->hot - 1;
}
