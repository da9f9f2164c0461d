/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/lock_history.h"

#include <stdlib.h>

#include "dsm/pages/history.h"
#include "dsm/pages/page_list.h"

/* Lists grow at powers of two. */
static bool has_room(struct page_list *list)
{
    enum { LEAST = 4 };
    if (list->count & (list->count - 1))
        return true;
    const size_t room = list->count < LEAST ? LEAST : 2 * list->count;
    uint32_t *page = realloc(list->page, room * sizeof *page);
    if (page)
        list->page = page;
    return page;
}

void lock_history_record(ddsm_t *d, size_t first, size_t count, bool held)
{
    struct page_list *list = &d->under->list;
    if (held)
        d->under_used += count;
    /* all locks together remember at most as many pages as there are */
    for (size_t p = first; p < first + count; p++)
        if (d->under_remembered < d->pages && has_room(list)) {
            list->page[list->count++] = (uint32_t)p;
            d->under_remembered++;
        }
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
    const size_t count = past->list.count;
    d->under = past->pause ? NULL : past;
    d->under_tests = false;
    if (past->pause)
        past->pause--;
    if (!d->under || is_all_there(d, &past->list))
        return (struct page_list){0};
    pages_unique(&past->list);
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
    d->under = NULL;
    if (!d->under_tests || 2 * d->under_used >= d->under_foretold)
        return;
    d->under_remembered -= past->list.count;
    past->list.count = 0;
    past->times = 0;
    past->pause = SHORTEST << past->pauses;
    if (past->pauses < MOST)
        past->pauses++;
}

void lock_history_close(ddsm_t *d)
{
    for (unsigned i = 0; d->held && i < d->cfg.locks; i++)
        free(d->held[i].past.list.page);
}
