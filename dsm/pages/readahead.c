/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/readahead.h"

enum { LEAST = 7 }; /* a fault costs more than fetching so many */

static struct ahead *find(struct streams *streams, size_t page)
{
    const unsigned n = streams->count < STREAMS ? streams->count : STREAMS;
    for (unsigned i = 0; i < n; i++)
        if (streams->of[i].next == page || streams->of[i].before == page)
            return &streams->of[i];
    return NULL;
}

static struct ahead *add(struct streams *streams)
{
    struct ahead *oldest = &streams->of[streams->count++ % STREAMS];
    *oldest = (struct ahead){0};
    return oldest;
}

/* Several sequences often pass one plane of an array each. Each ends where this
 * rank's part of the plane ends; pages that it has taken along beyond are
 * fetched in vain. So it takes along few. A sequence that is alone ends only
 * once, and may take along many. */
static void grow(const ddsm_t *d, const struct streams *streams,
                 struct ahead *a, size_t page)
{
    enum { PART = 4 };
    const size_t pages =
        streams->count > 1 ? a->passed / PART : 2 * (size_t)a->pages + 1;
    a->descends = a->before == page;
    a->pages = pages < LEAST ? LEAST : (unsigned)pages;
    if (a->pages > d->cfg.ahead)
        a->pages = d->cfg.ahead;
}

struct ahead *readahead_begin(const ddsm_t *d, struct streams *streams,
                              size_t page, size_t *low, size_t *end)
{
    struct ahead *a = find(streams, page);
    if (a)
        grow(d, streams, a, page);
    else
        a = add(streams);
    const size_t room = a->descends ? page : d->used - page - 1;
    const size_t pages = a->pages < room ? a->pages : room;
    *low = a->descends ? page - pages : page;
    *end = a->descends ? page + 1 : page + 1 + pages;
    return a;
}

/* After its first page a sequence may go on either way. */
void readahead_end(struct ahead *ahead, size_t low, size_t end)
{
    const bool is_first = !ahead->passed;
    ahead->next = is_first || !ahead->descends ? end : PAGE_NONE;
    ahead->before = low && (is_first || ahead->descends) ? low - 1 : PAGE_NONE;
    ahead->passed += end - low;
}

void readahead_forget(ddsm_t *d)
{
    d->reads.count = d->writes.count = 0;
}
