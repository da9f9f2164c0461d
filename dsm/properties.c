/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of a space; its transport; statistics. */
#include <math.h>

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
    if (space_enter(d))
        return NULL;
    if (!d->cfg.serves_packs)
        return d->t;
    space_fail(d, DRAIL_EINVAL,
               "ddsm_rails_take: not with ddsm_config_t.serves_packs");
    space_leave(d);
    return NULL;
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

bool ddsm_pages_are_shared(const ddsm_t *d)
{
    return d->is_shared;
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

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : NAN;
}

double ddsm_efficiency(const ddsm_stats_t *stats)
{
    return share(stats->predicted_used, stats->predicted);
}

double ddsm_coverage(const ddsm_stats_t *stats)
{
    return share(stats->predicted_used,
                 stats->predicted_used + stats->unpredicted);
}

static bool has_cost(const struct page_cost *c)
{
    return c->read_faults | c->write_faults | c->fetches | c->diffs |
           c->invalidated | c->shared_writes;
}

static bool copy_cost(ddsm_t *d, size_t page, ddsm_page_cost_t *to)
{
    const bool entered = enter_for_stats(d);
    const struct page_cost c =
        page < d->used ? d->cost[page] : (struct page_cost){0};
    *to = (ddsm_page_cost_t){.start = page_view(d, page),
                             .home = d->page[page].home,
                             .read_faults = c.read_faults,
                             .write_faults = c.write_faults,
                             .fetches = c.fetches,
                             .diffs = c.diffs,
                             .invalidated = c.invalidated,
                             .shared_writes = c.shared_writes};
    if (entered)
        space_leave(d);
    return has_cost(&c);
}

/* @visit may touch the view, so it is called outside. */
void ddsm_page_costs(ddsm_t *d,
                     void (*visit)(const ddsm_page_cost_t *cost, void *context),
                     void *context)
{
    ddsm_page_cost_t cost;
    for (size_t p = 0; p < d->pages; p++)
        if (has_cost(&d->cost[p]) && copy_cost(d, p, &cost))
            visit(&cost, context);
}

void ddsm_stats_reset(ddsm_t *d)
{
    const bool entered = enter_for_stats(d);
    d->stats = (ddsm_stats_t){0};
    for (size_t p = 0; p < d->used; p++)
        if (has_cost(&d->cost[p]))
            d->cost[p] = (struct page_cost){0};
    if (entered)
        space_leave(d);
}
