/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/lock_history.h"

#include <stdlib.h>
#include <string.h>

#include "dsm/pages/history.h"
#include "dsm/pages/page_list.h"

void lock_history_record(ddsm_t *d, size_t first, size_t count, bool held)
{
    struct page_list *recorded = &d->under_recorded;
    if (held)
        d->under_used += count;
    for (size_t p = first; p < first + count && recorded->count < d->pages; p++)
        recorded->page[recorded->count++] = (uint32_t)p;
}

static void forget(ddsm_t *d, struct lock_past *past)
{
    d->under_remembered -= past->list.count;
    free(past->list.page);
    past->list = (struct page_list){0};
    past->times = 0;
}

/* The lists of locks that the program no longer takes would stay for ever. */
static void make_room(ddsm_t *d, size_t count)
{
    enum { MOST = 4 }; /* for each page, in the lists of all locks */
    if (d->under_remembered + count <= MOST * d->pages)
        return;
    for (unsigned i = 0; i < d->cfg.locks; i++)
        if (&d->held[i].past != d->under)
            forget(d, &d->held[i].past);
}

/* Adds the recorded pages to the lock's list. Without memory they are
 * forgotten. */
static void keep(ddsm_t *d)
{
    struct page_list *list = &d->under->list, *recorded = &d->under_recorded;
    const size_t before = list->count, count = before + recorded->count;
    if (!recorded->count)
        return;
    make_room(d, recorded->count);
    uint32_t *page = realloc(list->page, count * sizeof *page);
    if (page) {
        memcpy(page + before, recorded->page,
               recorded->count * sizeof *recorded->page);
        *list = (struct page_list){page, count};
        pages_unique(list);
        d->under_remembered += list->count;
        d->under_remembered -= before;
    }
    recorded->count = 0;
}

void lock_history_leave(ddsm_t *d)
{
    if (d->under)
        keep(d);
    d->under = NULL;
}

/* Leaves in a list what is readable already: it does not fault, and counts as
 * used. Returns the others, which lie behind it. */
static struct page_list take_invalid(const ddsm_t *d, struct page_list *list)
{
    size_t left = 0;
    for (size_t i = 0; i < list->count; i++) {
        const uint32_t page = list->page[i];
        if (d->page[page].state == PAGE_INVALID)
            continue;
        list->page[i] = list->page[left];
        list->page[left++] = page;
    }
    struct page_list others = {list->page + left, list->count - left};
    pages_sort(&others);
    list->count = left;
    return others;
}

static bool is_all_there(const ddsm_t *d, const struct page_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (d->page[list->page[i]].state == PAGE_INVALID)
            return false;
    return true;
}

struct page_list lock_history_begin(ddsm_t *d, struct lock_past *past)
{
    lock_history_leave(d);
    const size_t count = past->list.count;
    d->under = past->pause ? NULL : past;
    d->under_tests = false;
    if (past->pause)
        past->pause--;
    if (!d->under || is_all_there(d, &past->list))
        return (struct page_list){0};
    d->under_tests = past->times++ % LEARN_PERIOD == 0;
    const struct page_list foretold =
        d->under_tests ? take_invalid(d, &past->list) : past->list;
    d->under_remembered -= count - past->list.count;
    d->under_foretold = foretold.count;
    d->under_used = 0;
    return foretold;
}

void lock_history_end(ddsm_t *d, struct lock_past *past)
{
    enum { SHORTEST = 8, MOST = 10 };
    if (d->under != past) /* it has taken another lock since */
        return;
    lock_history_leave(d);
    if (!d->under_tests || 2 * d->under_used >= d->under_foretold)
        return;
    forget(d, past);
    past->pause = SHORTEST << past->pauses;
    if (past->pauses < MOST)
        past->pauses++;
}

void lock_history_close(ddsm_t *d)
{
    for (unsigned i = 0; d->held && i < d->cfg.locks; i++)
        free(d->held[i].past.list.page);
    free(d->under_recorded.page);
}
