/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of a space; its transport; statistics. */
#include "dsm/base/enter.h"

unsigned ddsm_rank(const ddsm_t *d)
{
    return d->rank;
}

unsigned ddsm_size(const ddsm_t *d)
{
    return d->size;
}

drail_t *ddsm_rails_take(ddsm_t *d)
{
    return space_enter(d) ? NULL : d->t;
}

void ddsm_rails_give(ddsm_t *d)
{
    if (!space_is_inside(d))
        return;
    space_leave(d);
}

bool ddsm_is_symmetric(const ddsm_t *d)
{
    return d->symmetric;
}

void *ddsm_base(const ddsm_t *d)
{
    return d->view;
}

size_t ddsm_bytes(const ddsm_t *d)
{
    return d->bytes;
}

bool ddsm_has(const ddsm_t *d, const void *address)
{
    const size_t page = page_at(d, address);
    return page != PAGE_NONE &&
           __atomic_load_n(&d->page[page].state, __ATOMIC_RELAXED) !=
               PAGE_UNUSED;
}

size_t ddsm_page_bytes(const ddsm_t *d)
{
    return page_bytes(d);
}

/* Faults of other threads change them, so enter; a thread that has taken the
 * rails is inside already. True: leave afterwards. */
static bool enter_for_stats(ddsm_t *d)
{
    return !space_is_inside(d) && space_enter(d) == 0;
}

void ddsm_stats(const ddsm_t *d, ddsm_stats_t *stats)
{
    ddsm_t *own = (ddsm_t *)d; /* to lock it */
    const bool entered = enter_for_stats(own);
    ddsm_stats_t now = d->stats;
    if (entered)
        space_leave(own);
    *stats = now; /* @stats may lie in the view */
}

void ddsm_stats_reset(ddsm_t *d)
{
    const bool entered = enter_for_stats(d);
    d->stats = (ddsm_stats_t){0};
    if (entered)
        space_leave(d);
}
