/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of pages: fetched at once, or by ascending faults, which fetch ahead.
 */
#include "bench/clock.h"
#include "part.h"
#include "reference.h"
#include "walk.h"

#define MOST 16 /* ranges in a repeat */

enum { PREFETCH, FAULTS };

static dsm_pieces_t ranges(const dsm_bed_t *bed, uint64_t bytes)
{
    uint64_t n = (bed->room - bed->page) / (bytes + bed->page);
    return (dsm_pieces_t){n < MOST ? n : MOST, bytes};
}

static int fetch(dsm_bed_t *bed, const dsm_case_t *what, uint64_t offset,
                 uint64_t bytes)
{
    if (what->amount == PREFETCH)
        return ddsm_prefetch(bed->space, bed->remote + offset, bytes, false);
    for (uint64_t at = 0; at < bytes; at += bed->page)
        walk_touch(bed->remote + offset + at);
    return 0;
}

static int measure(dsm_bed_t *bed, const dsm_case_t *what,
                   const dsm_pieces_t *p, double *f, bool *wrong)
{
    uint64_t from = clock_ns();
    int rc = 0;
    for (uint64_t i = 0; !rc && i < p->count; i++)
        rc = fetch(bed, what, dsm_piece(bed, p, i), p->bytes);
    f[FIGURE_TIME] = (double)(clock_ns() - from) / (1e3 * (double)p->count);
    *wrong = !dsm_bed_right(bed, bed->remote, p);
    from = clock_ns();
    for (uint64_t i = 0; !rc && i < p->count; i++)
        rc = reference_get(bed, dsm_piece(bed, p, i), p->bytes);
    f[FIGURE_GET] = (double)(clock_ns() - from) / (1e3 * (double)p->count);
    f[FIGURE_RATIO] = f[FIGURE_GET] / f[FIGURE_TIME];
    *wrong |= !dsm_bed_right(bed, bed->target, p);
    return rc;
}

static int repeat(dsm_bed_t *bed, const dsm_part_t *part,
                  const dsm_case_t *what, uint64_t bytes, double *f,
                  bool *wrong)
{
    const dsm_pieces_t all = ranges(bed, bytes);
    (void)part;
    int rc = dsm_bed_renew(bed, &all);
    if (!rc && dsm_is_client(bed))
        rc = measure(bed, what, &all, f, wrong);
    return rc ? rc : ddsm_barrier(bed->space);
}

const dsm_part_t dsm_range = {
    .name = "range",
    .kind = DSM_RANGE,
    .what = "pages side by side, which the last rank has from rank 0, at once "
            "or by faults from the first to the last; ratio: of the rate to "
            "that of a plain get",
    .cases = {{"prefetch", PREFETCH}, {"faults", FAULTS}},
    .ncases = 2,
    .sized = true,
    .figures = {FIGURE_GET, FIGURE_RATIO},
    .nfigures = 2,
    .gains = FIGURE_TIME,
    .repeat = repeat,
};
