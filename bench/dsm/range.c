/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of pages: at once, or by faults that go upwards, which fetch ahead. */
#include "bench/clock.h"
#include "part.h"
#include "reference.h"
#include "walk.h"
#include "words.h"

#define MOST 16 /* ranges in a repeat */

enum { PREFETCH, FAULTS };

static uint64_t ranges(const dsm_bed_t *bed, uint64_t bytes)
{
    uint64_t n = bed->room / bytes;
    return n < MOST ? n : MOST;
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

/* Downwards: no range goes on where the one before it has ended. */
static int measure(dsm_bed_t *bed, const dsm_case_t *what, uint64_t bytes,
                   double *f, bool *wrong)
{
    uint64_t n = ranges(bed, bytes), from = clock_ns();
    int rc = 0;
    for (uint64_t i = n; !rc && i-- > 0;)
        rc = fetch(bed, what, i * bytes, bytes);
    f[FIGURE_TIME] = (double)(clock_ns() - from) / (1e3 * (double)n);
    *wrong = !words_right(bed->remote, n * bytes, bed->stamp);
    from = clock_ns();
    for (uint64_t i = n; !rc && i-- > 0;)
        rc = reference_get(bed, i * bytes, bytes);
    f[FIGURE_GET] = (double)(clock_ns() - from) / (1e3 * (double)n);
    f[FIGURE_RATIO] = f[FIGURE_GET] / f[FIGURE_TIME];
    *wrong |= !words_right(bed->target, n * bytes, bed->stamp);
    return rc;
}

static int repeat(dsm_bed_t *bed, const dsm_part_t *part,
                  const dsm_case_t *what, uint64_t bytes, double *f,
                  bool *wrong)
{
    uint64_t all = ranges(bed, bytes) * bytes;
    (void)part;
    int rc = dsm_bed_renew(bed, all);
    if (!rc && dsm_is_client(bed))
        rc = measure(bed, what, bytes, f, wrong);
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
