/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/pack.h"

#include <string.h>

#include "dsm/pages/diff.h"
#include "dsm/pages/pages.h"

/* Adjacent lines with changes: in a part such a header, and for each line its
 * mask of 8 bytes, then the bytes whose bits are set. Lines count from the
 * begin of the space. */
struct run {
    uint64_t line, count;
};
enum { MASK = sizeof(uint64_t) };

size_t pack_room(const ddsm_t *d)
{
    enum { MOST = 32 << 20 };
    if (d->is_shared)
        return 0;
    return d->bytes < MOST / 2 ? 2 * d->bytes : MOST;
}

/* ------------------------------------------------------------------ making */

struct packing {
    char *at, *end;
    struct run run; /* the open one; its header is at: */
    char *header;
    unsigned pieces; /* of this page */
    bool inside;     /* a piece goes on at the end of the last line */
};

static void close_run(struct packing *p)
{
    if (p->run.count)
        memcpy(p->header, &p->run, sizeof p->run);
    p->run.count = 0;
}

static void begin_run(struct packing *p, uint64_t line)
{
    close_run(p);
    p->header = p->at;
    p->at += sizeof p->run;
    p->run.line = line;
}

/* A piece begins at each bit that is set behind one that is not. */
static void count_pieces(struct packing *p, uint64_t mask)
{
    const uint64_t begins = mask & ~(mask << 1 | p->inside);
    p->pieces += (unsigned)__builtin_popcountll(begins);
    p->inside = mask >> 63;
}

static void add_line(struct packing *p, const char *now, uint64_t mask)
{
    memcpy(p->at, &mask, MASK);
    p->at += MASK;
    if (mask == UINT64_MAX) {
        memcpy(p->at, now, DIFF_LINE);
        p->at += DIFF_LINE;
        return;
    }
    for (; mask; mask &= mask - 1)
        *p->at++ = now[__builtin_ctzll(mask)];
}

static void add_lines(struct packing *p, const ddsm_t *d, size_t page)
{
    const size_t start = page << d->page_shift;
    const char *now = d->store + start, *before = d->twins + start;
    for (size_t at = 0; at < page_bytes(d); at += DIFF_LINE) {
        const uint64_t line = (start + at) / DIFF_LINE;
        const uint64_t mask =
            diff_line(now + at, before + at, d->page[page].element_shift);
        count_pieces(p, mask);
        if (!mask)
            continue;
        if (!p->run.count || p->run.line + p->run.count != line)
            begin_run(p, line);
        p->run.count++;
        add_line(p, now + at, mask);
    }
}

/* The most that a page can take. */
static size_t page_room(const ddsm_t *d)
{
    return page_bytes(d) / DIFF_LINE * (sizeof(struct run) + MASK + DIFF_LINE);
}

/* A page with few pieces is put home as it is: it costs the home nothing. */
static void pack_page(ddsm_t *d, struct packing *p, size_t page, unsigned few)
{
    const struct packing before = *p;
    if (page_room(d) > (size_t)(p->end - p->at))
        return;
    p->pieces = 0;
    p->inside = false;
    add_lines(p, d, page);
    if (p->pieces <= few) {
        *p = before;
        return;
    }
    d->page[page].packed = true;
    d->page[page].scattered = true;
    d->page[page].held = true; /* until the home has read them, only here */
    d->stats.diffs++;
    d->cost[page].diffs++;
    pages_announce(d, page);
    pages_count_write(d, page);
}

/* Dirty pages home by home: those of a home begin at ddsm.group[home] in
 * ddsm.grouped, in their order. */
static void group_by_home(ddsm_t *d, const struct page_list *dirty)
{
    size_t *group = d->group;
    memset(group, 0, (d->size + 1) * sizeof *group);
    for (size_t i = 0; i < dirty->count; i++)
        group[d->page[dirty->page[i]].home]++;
    for (unsigned home = 0; home < d->size; home++)
        group[home + 1] += group[home];
    for (size_t i = dirty->count; i-- > 0;)
        d->grouped[--group[d->page[dirty->page[i]].home]] = dirty->page[i];
}

static size_t pack_for(ddsm_t *d, unsigned home, size_t used, unsigned few)
{
    struct packing p = {.at = d->control.pack + used,
                        .end = d->control.pack + d->control.pack_room};
    for (size_t i = d->group[home]; i < d->group[home + 1]; i++)
        pack_page(d, &p, d->grouped[i], few);
    close_run(&p);
    return (size_t)(p.at - d->control.pack) - used;
}

bool pack_changes(ddsm_t *d, const struct page_list *dirty, unsigned few)
{
    size_t used = 0;
    group_by_home(d, dirty);
    for (unsigned home = 0; home < d->size; home++) {
        struct pack_part *part = &d->control.pack_parts[home];
        *part = (struct pack_part){.offset = used};
        if (home != d->rank)
            part->bytes = pack_for(d, home, used, few);
        used += part->bytes;
    }
    d->stats.packed_bytes += used;
    return used;
}

/* ------------------------------------------------------------- carrying out */

/* NULL: the part ends within the line. */
static const char *apply_line(char *to, const char *from, const char *end)
{
    uint64_t mask;
    if (end - from < MASK)
        return NULL;
    memcpy(&mask, from, MASK);
    from += MASK;
    if (end - from < __builtin_popcountll(mask))
        return NULL;
    if (mask == UINT64_MAX) {
        memcpy(to, from, DIFF_LINE);
        return from + DIFF_LINE;
    }
    for (; mask; mask &= mask - 1)
        to[__builtin_ctzll(mask)] = *from++;
    return from;
}

static bool is_within(const ddsm_t *d, const struct run *run)
{
    const uint64_t lines = d->bytes / DIFF_LINE;
    return run->line < lines && run->count <= lines - run->line;
}

bool pack_apply(ddsm_t *d, const char *from, const char *end)
{
    struct run run;
    uint64_t behind = 0; /* lines come in order, each once */
    while (from < end) {
        if ((size_t)(end - from) < sizeof run)
            return false;
        memcpy(&run, from, sizeof run);
        from += sizeof run;
        if (!is_within(d, &run) || run.line < behind)
            return false;
        behind = run.line + run.count;
        char *to = d->store + run.line * DIFF_LINE;
        for (uint64_t i = 0; i < run.count; i++) {
            from = apply_line(to + i * DIFF_LINE, from, end);
            if (!from)
                return false;
        }
    }
    return true;
}
