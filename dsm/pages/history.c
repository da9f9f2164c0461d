/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/history.h"

#include <stdlib.h>
#include <string.h>

#include "dsm/pages/page_list.h"

void history_record(ddsm_t *d, enum use use, size_t first, size_t count)
{
    struct page_list *list = &d->recorded[use];
    for (size_t p = first; p < first + count && d->is_named; p++) {
        if (d->page[p].recorded & 1 << use)
            continue;
        d->page[p].recorded |= (uint8_t)(1 << use);
        list->page[list->count++] = (uint32_t)p;
    }
}

/* Adds the recorded pages to a list, or replaces what it had by them. Without
 * memory they are forgotten. */
static void keep_in(ddsm_t *d, struct page_list *list,
                    const struct page_list *recorded, bool replaces)
{
    const size_t before = replaces ? 0 : list->count;
    const size_t count = before + recorded->count;
    uint32_t *page = count ? realloc(list->page, count * sizeof *page) : NULL;
    d->remembered -= list->count;
    if (page) {
        memcpy(page + before, recorded->page,
               recorded->count * sizeof *recorded->page);
        list->page = page;
        list->count = count;
        pages_unique(list);
    } else if (!count) {
        list->count = 0;
    }
    d->remembered += list->count;
}

/* At the first tests of both lists they have been put right, at least. */
static bool is_trusted(const struct past *past)
{
    enum { TESTED = 4 };
    return past->is_good || past->times > TESTED;
}

/* More exact names than that which has foretold the interval are new. If that
 * one is trusted they take what it has foretold for used, until their first
 * test. Otherwise they stay new.
 * Lists of less exact names lack what was fetched in advance then. */
static void keep(ddsm_t *d, enum use use)
{
    struct page_list *recorded = &d->recorded[use];
    const unsigned by = d->foretold_by;
    for (unsigned i = 0; i < NAMES; i++) {
        if (!d->into[i] || (i > by && !d->learning))
            continue;
        const bool assumes = i < by && by < NAMES && !d->learning;
        if (assumes && !is_trusted(d->named[by])) {
            d->named[i]->times = 0;
            continue;
        }
        d->named[i]->is_assumed |= assumes;
        if (recorded->count || d->learning)
            keep_in(d, &d->into[i][use], recorded, d->learning && i <= by);
        if (assumes && d->into[by][use].count)
            keep_in(d, &d->into[i][use], &d->into[by][use], false);
    }
    for (size_t i = 0; i < recorded->count; i++)
        d->page[recorded->page[i]].recorded &= (uint8_t) ~(1 << use);
    recorded->count = 0;
}

static void forget(ddsm_t *d, struct past *past)
{
    for (unsigned i = 0; i < 2 * USES; i++) {
        struct page_list *list = &past->list[i / USES][i % USES];
        d->remembered -= list->count;
        free(list->page);
        *list = (struct page_list){0};
    }
    past->times = 0;
    past->is_assumed = false;
}

/* A program whose intervals always have new names: its lists would take more
 * and more memory. */
static void forget_if_too_much(ddsm_t *d)
{
    enum { MOST = 256 }; /* for each page: a quarter of a page of 4 KiB */
    if (d->remembered / MOST < d->pages)
        return;
    for (size_t i = 0; i < (size_t)NAMES * PASTS; i++)
        forget(d, &d->pasts[i / PASTS][i % PASTS]);
}

/* @exactness: the place of the name among those of the interval. NULL: it has
 * none, or there is a pause. */
static struct past *past_of(ddsm_t *d, unsigned exactness, uint64_t name)
{
    struct past *past = &d->pasts[exactness][hash_place(name, PASTS)];
    if (!name)
        return NULL;
    if (past->name != name) { /* new, or another one's place */
        forget(d, past);
        past->pause = past->pauses = 0;
        past->is_good = false;
        past->name = name;
        past->turn = past->gap = 0;
        past->last = d->interval;
    }
    if (!past->pause)
        return past;
    past->pause--;
    return NULL;
}

/* How many of the pages that had been fetched in advance were used? Of pages
 * that others have written meanwhile, page.held no longer says so. */
static size_t count_used(const ddsm_t *d)
{
    const struct page_list *list = &d->into[d->foretold_by][USE_FETCH];
    size_t used = 0;
    for (size_t i = 0; i < list->count; i++)
        used += (d->page[list->page[i]].recorded & 1 << USE_FETCH) != 0;
    return used;
}

/* Intervals of that name differ: for some time nothing is fetched in advance,
 * and then it is tried again. */
static void pause_history(ddsm_t *d, struct past *past)
{
    enum { SHORTEST = 8, MOST = 10 };
    forget(d, past);
    past->pause = SHORTEST << past->pauses;
    if (past->pauses < MOST)
        past->pauses++;
}

/* Most programs do not swap arrays: the second interval begins like the first
 * one. */
static void copy_list(ddsm_t *d, struct past *past, unsigned turn)
{
    for (unsigned use = 0; use < USES; use++) {
        const struct page_list *from = &past->list[turn][use];
        struct page_list *to = &past->list[!turn][use];
        const size_t bytes = from->count * sizeof *to->page;
        uint32_t *page = bytes ? realloc(to->page, bytes) : NULL;
        if (bytes && !page)
            continue;
        if (bytes)
            memcpy(page, from->page, bytes);
        else
            page = to->page;
        d->remembered += from->count - to->count;
        *to = (struct page_list){page, from->count};
    }
}

/* Is this interval a test? In a test, the history learns one of a name's two
 * lists by faults; the lists take turns. Where the history tells turns apart,
 * it tests both lists in a row. For names of the program that would only cost
 * faults. A list that it has taken over from another name without a test is
 * tested at once; the outcome then holds for both lists. */
static bool is_time_to_learn(const ddsm_t *d, const struct past *past)
{
    enum { FIRST = 2, SECOND = FIRST + LEARN_PERIOD + 1 };
    const unsigned times = past->times % (2 * LEARN_PERIOD);
    return past->is_assumed || times == FIRST || times == SECOND ||
           (past->times == FIRST + 1 && d->named[0]);
}

/* The interval that ends. */
static void end_interval(ddsm_t *d)
{
    struct past *tested = d->tests ? d->named[d->foretold_by] : NULL;
    bool useless = false, assumed = false;
    if (tested) {
        const size_t foretold = d->into[d->foretold_by][USE_FETCH].count;
        const size_t used = count_used(d);
        assumed = tested->is_assumed;
        useless = 2 * used < foretold && !assumed;
        tested->is_good = 10 * used >= 9 * foretold &&
                          5 * used >= 4 * d->recorded[USE_FETCH].count;
    }
    for (unsigned use = 0; use < USES && d->is_named; use++)
        keep(d, use);
    if (assumed) {
        tested->is_assumed = false;
        copy_list(d, tested, !(tested->times % 2));
        if (tested->is_good) /* its lists need not be tested so soon */
            tested->times += 2;
    }
    if (useless)
        pause_history(d, tested);
}

/* Chooses the most exact name that has a past; NAMES: none has. */
static void begin_interval(ddsm_t *d, const uint64_t *names)
{
    d->foretold_by = NAMES;
    d->is_named = false;
    for (unsigned i = 0; i < NAMES; i++) {
        struct past *past = past_of(d, i, names[i]);
        d->named[i] = past;
        d->into[i] = NULL;
        if (!past)
            continue;
        if (past->times == 1)
            copy_list(d, past, 0);
        if (past->times && d->foretold_by == NAMES)
            d->foretold_by = i;
        d->into[i] = past->list[past->times % 2];
        d->is_named = true;
    }
}

/* How many times the name has come before in the present loop. A loop ends when
 * its name stays away for longer than from one turn to the next. */
static unsigned turn_of(ddsm_t *d, struct past *past, uint64_t name)
{
    const uint32_t gap = d->interval - past->last;
    if (past->name != name)
        return 0;
    if (!past->gap || gap < past->gap)
        past->gap = gap;
    past->turn = gap == past->gap ? past->turn + 1 : 0;
    past->last = d->interval;
    return past->turn;
}

/* Turns of a loop differ: the last one for example is followed by something
 * else. So a name with the number of the turn is more exact. A program that
 * gives several names has exact ones already. */
static void add_turn(ddsm_t *d, const uint64_t *names, uint64_t *all)
{
    enum { MOST = 1024 };
    const uint64_t mix = 0x9e3779b97f4a7c15u;
    all[0] = 0;
    memcpy(all + 1, names, DDSM_NAMES * sizeof *all);
    for (unsigned i = 1; i < DDSM_NAMES; i++)
        if (names[i])
            return;
    if (!names[0])
        return;
    const unsigned turn =
        turn_of(d, &d->pasts[1][hash_place(names[0], PASTS)], names[0]);
    if (turn < MOST)
        all[0] = (names[0] * mix + turn) * mix | 1;
}

/* To learn by faults what names that are new use pays only if they come back.
 * So each such time needs a credit, which names that come back earn. */
static bool may_learn(ddsm_t *d, unsigned name)
{
    enum { MOST = 256 };
    if (!d->named[name] || d->learnt[name] >= MOST)
        return false;
    d->learnt[name]++;
    return true;
}

static void leave_out(ddsm_t *d, unsigned name)
{
    d->named[name] = NULL;
    d->into[name] = NULL;
}

const struct page_list *history_turn(ddsm_t *d, const uint64_t *names)
{
    uint64_t all[NAMES];
    add_turn(d, names, all);
    end_interval(d);
    forget_if_too_much(d);
    begin_interval(d, all);
    const unsigned by = d->foretold_by;
    struct past *past = by < NAMES ? d->named[by] : NULL;
    const struct page_list *list = past ? d->into[by] : NULL;
    d->tests = past && is_time_to_learn(d, past);
    d->learning = d->tests;
    if (past && d->learnt[by])
        d->learnt[by] -= d->learnt[by] > 1 ? 2 : 1;
    /* More exact names of the program are new: they learn, unless this one is
     * good enough. Turns never do so, as most loops run once. */
    for (unsigned i = 1; i < by && past; i++)
        if (past->is_good)
            leave_out(d, i);
        else
            d->learning |= may_learn(d, i);
    for (unsigned i = 0; i < NAMES; i++)
        if (d->named[i])
            d->named[i]->times++;
    /* a page that is readable already does not fault: it counts as used */
    for (size_t i = 0; d->learning && i < list[USE_FETCH].count; i++)
        if (d->page[list[USE_FETCH].page[i]].state != PAGE_INVALID)
            history_record(d, USE_FETCH, list[USE_FETCH].page[i], 1);
    return list;
}

void history_close(ddsm_t *d)
{
    struct past *all = d->pasts ? d->pasts[0] : NULL;
    for (size_t i = 0; all && i < (size_t)NAMES * PASTS; i++)
        for (unsigned k = 0; k < 2 * USES; k++)
            free(all[i].list[k / USES][k % USES].page);
    free(all);
}
