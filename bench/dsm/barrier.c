/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers, before which each rank writes pages whose home is the next rank. */
#include "bench/clock.h"
#include "part.h"

#define TIMES 16 /* in a repeat */

static uint64_t *page_at(const dsm_bed_t *bed, unsigned home, unsigned i)
{
    return (uint64_t *)(bed->ring +
                        (home * DSM_RING_PAGES + i) * (size_t)bed->page);
}

static void write(const dsm_bed_t *bed, unsigned pages)
{
    for (unsigned i = 0; i < pages; i++)
        *page_at(bed, (bed->rank + 1) % bed->ranks, i) = bed->stamp;
}

/* Checks the pages whose home is here, which the rank before this one has
 * written. */
static bool is_right(const dsm_bed_t *bed, unsigned pages)
{
    for (unsigned i = 0; i < pages; i++)
        if (*page_at(bed, bed->rank, i) != bed->stamp)
            return false;
    return true;
}

static int repeat(dsm_bed_t *bed, const dsm_part_t *part,
                  const dsm_case_t *what, uint64_t bytes, double *f,
                  bool *wrong)
{
    uint64_t ns = 0;
    (void)part, (void)bytes;
    int rc = ddsm_barrier(bed->space);
    for (unsigned i = 0; !rc && i < TIMES; i++) {
        bed->stamp++;
        write(bed, what->amount);
        uint64_t from = clock_ns();
        rc = ddsm_barrier(bed->space);
        ns += clock_ns() - from;
    }
    f[FIGURE_TIME] = (double)ns / (1e3 * TIMES);
    *wrong = !rc && !is_right(bed, what->amount);
    /* no rank writes again while others check */
    return rc ? rc : ddsm_barrier(bed->space);
}

const dsm_part_t dsm_barrier = {
    .name = "barrier",
    .kind = DSM_BARRIER,
    .what = "a barrier on the slowest rank, with an element written in so many "
            "pages by each, whose home is the next rank",
    .cases = {{"0-pages", 0}, {"1-page", 1}, {"16-pages", DSM_RING_PAGES}},
    .ncases = 3,
    .gains = FIGURE_TIME,
    .repeat = repeat,
};
