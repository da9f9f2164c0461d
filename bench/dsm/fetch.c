/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single pages in an order that defeats fetching ahead: the client faults for
 * one after the other.
 */
#include "bench/clock.h"
#include "part.h"
#include "reference.h"
#include "walk.h"

static double us_since(uint64_t from)
{
    return (double)(clock_ns() - from) / 1e3;
}

/* Calls @p how, which returns 0 or an error, for each page once, in ascending
 * order. */
static int walk(dsm_bed_t *bed, int (*how)(dsm_bed_t *bed, uint64_t offset),
                double *us)
{
    const dsm_pieces_t pages = dsm_single_pages(bed);
    uint64_t from = clock_ns();
    int rc = 0;
    for (uint64_t i = 0; !rc && i < pages.count; i++)
        rc = how(bed, dsm_piece(bed, &pages, i));
    *us = us_since(from) / (double)pages.count;
    return rc;
}

static int fault(dsm_bed_t *bed, uint64_t offset)
{
    walk_touch(bed->remote + offset);
    return 0;
}

static int get(dsm_bed_t *bed, uint64_t offset)
{
    return reference_get(bed, offset, bed->page);
}

static int copy(dsm_bed_t *bed, uint64_t offset)
{
    platform_copy(bed->platform, bed->source + offset, bed->target + offset,
                  bed->page);
    return 0;
}

static int measure(dsm_bed_t *bed, double *f, bool *wrong)
{
    const dsm_pieces_t pages = dsm_single_pages(bed);
    int rc = walk(bed, fault, &f[FIGURE_TIME]);
    *wrong = !dsm_bed_right(bed, bed->remote, &pages);
    if (!rc)
        rc = walk(bed, get, &f[FIGURE_GET]);
    *wrong |= !dsm_bed_right(bed, bed->target, &pages);
    return rc ? rc : walk(bed, copy, &f[FIGURE_COPY]);
}

static int repeat(dsm_bed_t *bed, const dsm_part_t *part,
                  const dsm_case_t *what, uint64_t bytes, double *f,
                  bool *wrong)
{
    const dsm_pieces_t all = dsm_single_pages(bed);
    (void)part, (void)what, (void)bytes;
    int rc = dsm_bed_renew(bed, &all);
    if (!rc && dsm_is_client(bed))
        rc = measure(bed, f, wrong);
    /* until now home was in this barrier and served the reads of the client */
    if (!rc)
        rc = ddsm_barrier(bed->space);
    if (!rc && (dsm_is_client(bed) || dsm_is_home(bed)))
        rc = reference_pingpong(bed, &f[FIGURE_PINGPONG]);
    f[FIGURE_RATIO] = f[FIGURE_TIME] / (f[FIGURE_PINGPONG] + f[FIGURE_COPY]);
    return rc ? rc : ddsm_barrier(bed->space);
}

const dsm_part_t dsm_fetch = {
    .name = "fetch",
    .kind = DSM_FETCH,
    .what = "a read fault of a single page, which the last rank has from rank "
            "0; ratio: of it to a ping-pong of 8 bytes and a copy of a page",
    .cases = {{"fault", 0}},
    .ncases = 1,
    .paged = true,
    .figures = {FIGURE_PINGPONG, FIGURE_COPY, FIGURE_GET, FIGURE_RATIO},
    .nfigures = 4,
    .gains = FIGURE_TIME,
    .repeat = repeat,
};
