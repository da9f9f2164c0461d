/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/history.h"

#include <stdlib.h>
#include <string.h>

#include "dsm/pages/pages.h"

void history_record(ddsm_t *d, enum use use, size_t first, size_t count)
{
    struct page_list *list = &d->recorded[use];
    for (size_t p = first; p < first + count && d->past; p++) {
        if (d->page[p].recorded & 1 << use)
            continue;
        d->page[p].recorded |= (uint8_t)(1 << use);
        list->page[list->count++] = (uint32_t)p;
    }
}

static void unique(struct page_list *list)
{
    size_t n = 0;
    pages_sort(list);
    for (size_t i = 0; i < list->count; i++)
        if (!n || list->page[n - 1] != list->page[i])
            list->page[n++] = list->page[i];
    list->count = n;
}

/* Adds the recorded pages to the past interval, or after learning replaces what
 * it had by them. Without memory they are forgotten. */
static void keep(ddsm_t *d, enum use use)
{
    struct page_list *recorded = &d->recorded[use];
    struct page_list *list = &d->past[use];
    if (!recorded->count && !d->learning)
        return;
    const size_t before = d->learning ? 0 : list->count;
    const size_t count = before + recorded->count;
    uint32_t *page = count ? realloc(list->page, count * sizeof *page) : NULL;
    for (size_t i = 0; i < recorded->count; i++)
        d->page[recorded->page[i]].recorded &= (uint8_t) ~(1 << use);
    if (page) {
        memcpy(page + before, recorded->page,
               recorded->count * sizeof *recorded->page);
        list->page = page;
        list->count = count;
        unique(list);
    } else if (!count) {
        list->count = 0;
    }
    recorded->count = 0;
}

static void forget(struct past *past)
{
    for (unsigned i = 0; i < 2 * USES; i++)
        past->list[i / USES][i % USES].count = 0;
    past->times = 0;
}

static struct past *past_of(ddsm_t *d, uint64_t name)
{
    struct past *past = &d->pasts[hash_place(name, PASTS)];
    if (!name)
        return NULL;
    if (past->name != name) { /* new, or another one's place */
        forget(past);
        past->pause = past->pauses = 0;
        past->name = name;
    }
    return past;
}

/* Was most of what had been fetched in advance not used? Of pages that others
 * have written meanwhile, page.held no longer says so. */
static bool was_useless(const ddsm_t *d)
{
    const struct page_list *list = &d->past[USE_FETCH];
    size_t unused = 0;
    for (size_t i = 0; i < list->count; i++)
        unused += !(d->page[list->page[i]].recorded & 1 << USE_FETCH);
    return 2 * unused > list->count;
}

/* Intervals of that name differ: for some time nothing is fetched in advance,
 * and then it is tried again. */
static void pause_history(struct past *past)
{
    enum { SHORTEST = 8, MOST = 10 };
    forget(past);
    past->pause = SHORTEST << past->pauses;
    if (past->pauses < MOST)
        past->pauses++;
}

/* Most programs do not swap arrays: the second interval begins like the first
 * one. */
static void begin_second(struct past *past)
{
    for (unsigned use = 0; use < USES; use++) {
        const struct page_list *from = &past->list[0][use];
        struct page_list *to = &past->list[1][use];
        const size_t bytes = from->count * sizeof *to->page;
        uint32_t *page = bytes ? realloc(to->page, bytes) : NULL;
        if (!page)
            continue;
        memcpy(page, from->page, bytes);
        *to = (struct page_list){page, from->count};
    }
}

/* Each of the two lists is tested in its turn. */
static bool is_time_to_learn(unsigned times)
{
    enum { FIRST = 2, SECOND = FIRST + LEARN_PERIOD + 1 };
    times %= 2 * LEARN_PERIOD;
    return times == FIRST || times == SECOND;
}

const struct page_list *history_turn(ddsm_t *d, uint64_t name)
{
    const bool useless = d->past && d->learning && was_useless(d);
    for (unsigned use = 0; use < USES && d->past; use++)
        keep(d, use);
    if (useless)
        pause_history(d->named);
    struct past *past = past_of(d, name);
    if (past && past->pause) {
        past->pause--;
        past = NULL;
    }
    if (past && past->times == 1)
        begin_second(past);
    struct page_list *list = past ? past->list[past->times % 2] : NULL;
    d->past = list;
    d->named = past;
    d->learning = past && is_time_to_learn(past->times++);
    /* a page that is readable already does not fault: it counts as used */
    for (size_t i = 0; d->learning && i < list->count; i++)
        if (d->page[list->page[i]].state != PAGE_INVALID)
            history_record(d, USE_FETCH, list->page[i], 1);
    return list;
}

void history_close(ddsm_t *d)
{
    for (unsigned i = 0; i < PASTS; i++)
        for (unsigned k = 0; k < 2 * USES; k++)
            free(d->pasts[i].list[k / USES][k % USES].page);
}
