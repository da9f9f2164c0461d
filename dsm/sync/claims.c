/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/sync/claims.h"

#include "dsm/pages/coalesce.h"
#include "dsm/pages/fetch.h"
#include "dsm/pages/page_list.h"
#include "dsm/pages/pages.h"
#include "dsm/sync/peer_wait.h"

static bool is_wanted(const ddsm_t *d, size_t page)
{
    enum { MOST = 6 };
    const struct page *p = &d->page[page];
    const unsigned changes = p->changes < MOST ? p->changes : MOST;
    return p->kind == DDSM_MOVING && p->writes >= 1u << changes &&
           !(p->home == d->rank && p->exclusive);
}

void claims_make(ddsm_t *d, struct arrival *arrival)
{
    struct page_list *changed = &d->changed;
    struct range *last = NULL;
    arrival->claims = 0;
    pages_sort(changed);
    for (size_t i = 0; i < changed->count; i++) {
        const uint32_t page = changed->page[i];
        if (!is_wanted(d, page))
            continue;
        if (last && last->first + last->count == page) {
            last->count++;
        } else {
            if (arrival->claims == CLAIM_RANGES)
                break;
            last = &arrival->range[arrival->claims++];
            *last = (struct range){page, 1};
        }
        /* all ranks that get this claim drop their copies */
        __atomic_store_n(&d->control.copied[page], 0, __ATOMIC_SEQ_CST);
    }
}

/* Calls @act for each range that only @rank claims. */
struct settling {
    ddsm_t *d;
    unsigned rank;
    int (*act)(struct settling *s, size_t first, size_t count);
    bool moves; /* a range has had another home */
};

/* Leaves out of the range what other ranks claim, from the @from-th claim on.
 * Claims of rank r have the numbers r * CLAIM_RANGES + i. */
static int settle_range(struct settling *s, size_t first, size_t end,
                        size_t from)
{
    const ddsm_t *d = s->d;
    const size_t all = (size_t)d->size * CLAIM_RANGES;
    for (size_t k = from; first < end && k < all; k++) {
        const struct arrival *a = &d->control.arrivals[k / CLAIM_RANGES];
        const struct range *other = &a->range[k % CLAIM_RANGES];
        if (k / CLAIM_RANGES == s->rank || k % CLAIM_RANGES >= a->claims)
            continue;
        const size_t low = other->first > first ? other->first : first;
        const size_t other_end = (size_t)other->first + other->count;
        const size_t high = other_end < end ? other_end : end;
        if (low >= high)
            continue;
        int rc = settle_range(s, first, low, k + 1);
        if (rc)
            return rc;
        first = high;
    }
    return first < end ? s->act(s, first, end - first) : 0;
}

static int settle(struct settling *s)
{
    const ddsm_t *d = s->d;
    int rc = 0;
    for (unsigned r = 0; r < d->size; r++) {
        const struct arrival *a = &d->control.arrivals[r];
        s->rank = r;
        for (size_t i = 0; i < a->claims && !rc; i++)
            rc = settle_range(s, a->range[i].first,
                              (size_t)a->range[i].first + a->range[i].count, 0);
    }
    return rc;
}

static int prepare(struct settling *s, size_t first, size_t count)
{
    ddsm_t *d = s->d;
    for (size_t p = first; p < first + count; p++)
        s->moves |= d->page[p].home != s->rank;
    int rc = s->rank == d->rank ? fetch(d, first, count) : 0;
    if (rc == DRAIL_ENOMEM && !d->broken) {
        rc = coalesce_mappings(d);
        if (!rc)
            rc = fetch(d, first, count);
    }
    return rc ? space_break(d, rc) : 0; /* the others are about to meet */
}

static int change_home(struct settling *s, size_t first, size_t count)
{
    ddsm_t *d = s->d;
    const bool here = s->rank == d->rank;
    int rc = pages_set(d, first, count, here ? PAGE_DIRTY : PAGE_INVALID);
    const bool full = rc == DRAIL_ENOMEM;
    if (full) /* here its writes are tracked, then */
        rc = coalesce_mappings(d);
    for (size_t p = first; p < first + count && !rc; p++) {
        struct page *page = &d->page[p];
        page->home = (uint16_t)s->rank;
        page->exclusive = !(here && full);
        page->held = false;
        pages_count_change(page);
    }
    return rc;
}

/* Pages that this rank has claimed in vain; those that it has got have no
 * writes by now. */
static void count_contested(ddsm_t *d)
{
    const struct arrival *a = &d->control.arrivals[d->rank];
    for (size_t i = 0; i < a->claims; i++)
        for (size_t k = 0; k < a->range[i].count; k++) {
            struct page *page = &d->page[a->range[i].first + k];
            if (page->writes)
                pages_count_change(page);
        }
}

/* Claims of ranks that have allocated the same, within the space. */
static int check(ddsm_t *d, bool *any)
{
    *any = false;
    for (unsigned r = 0; r < d->size; r++) {
        const struct arrival *a = &d->control.arrivals[r];
        if (a->allocs != d->control.arrivals[0].allocs) {
            *any = false;
            return 0;
        }
        *any |= a->claims > 0;
        for (size_t i = 0; i < a->claims; i++)
            if (a->claims > CLAIM_RANGES || a->range[i].first >= d->used ||
                a->range[i].count > d->used - a->range[i].first)
                return space_break(
                    d, space_fail(d, DRAIL_EDAT,
                                  "rank %u claims pages that do not exist", r));
    }
    return 0;
}

int claims_settle(ddsm_t *d)
{
    struct settling s = {.d = d, .act = prepare};
    bool any;
    int rc = check(d, &any);
    if (rc || !any)
        return rc;
    rc = settle(&s);
    if (!rc && s.moves)
        rc = peer_wait_run(d, d->meet_request, "barrier");
    s.act = change_home;
    if (!rc)
        rc = settle(&s);
    if (!rc)
        count_contested(d);
    return rc;
}
