/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of writing pages of another rank: the fault, in which a twin is
 * made, and the flush, at an unlock of a lock whose home is the writer. A flush
 * of unchanged pages only compares.
 */
#include "bench/clock.h"
#include "part.h"
#include "words.h"

enum { NONE, ONE, HALF, ALL };

static bool changes(unsigned amount, size_t element)
{
    return amount == ALL || (amount == HALF && element % 2 == 0) ||
           (amount == ONE && element == 0);
}

/* Inverts the chosen elements of 8 bytes: all of their bytes change. */
static void change(const dsm_bed_t *bed, unsigned amount)
{
    const dsm_pieces_t pages = dsm_single_pages(bed);
    for (uint64_t i = 0; i < pages.count; i++) {
        uint64_t *word = (uint64_t *)(bed->remote + dsm_piece(bed, &pages, i));
        for (size_t k = 0; k < bed->page / DSM_ELEMENT; k++)
            if (changes(amount, k))
                word[k] = ~word[k];
    }
}

/* Takes a write fault for each page, by writing the value that is there. */
static double make_writable(const dsm_bed_t *bed)
{
    const dsm_pieces_t pages = dsm_single_pages(bed);
    uint64_t from = clock_ns();
    for (uint64_t i = 0; i < pages.count; i++) {
        volatile uint64_t *word =
            (volatile uint64_t *)(bed->remote + dsm_piece(bed, &pages, i));
        *word = *word;
    }
    return (double)(clock_ns() - from) / (1e3 * (double)pages.count);
}

/* @p us: of the faults and of the flush, per page. */
static int write(dsm_bed_t *bed, unsigned amount, double us[2])
{
    unsigned own = bed->rank;
    int rc = ddsm_lock(bed->space, own);
    if (rc)
        return rc;
    us[0] = make_writable(bed);
    change(bed, amount);
    uint64_t from = clock_ns();
    rc = ddsm_unlock(bed->space, own);
    us[1] = (double)(clock_ns() - from) / (1e3 * (double)bed->opts->dsm.pages);
    return rc;
}

static int measure(dsm_bed_t *bed, unsigned amount, double *f)
{
    const dsm_pieces_t pages = dsm_single_pages(bed);
    double idle[2], busy[2];
    int rc = ddsm_prefetch(bed->space, bed->remote,
                           dsm_piece(bed, &pages, pages.count), false);
    if (!rc)
        rc = write(bed, NONE, idle);
    if (!rc)
        rc = write(bed, amount, busy);
    if (rc)
        return rc;
    f[FIGURE_TIME] = busy[0] + busy[1];
    f[FIGURE_TWIN] = busy[0];
    f[FIGURE_COMPARE] = idle[1];
    f[FIGURE_PIECES] = busy[1] - idle[1];
    return 0;
}

/* Checks the pages at their home, after all writes. */
static bool is_right(const dsm_bed_t *bed, unsigned amount)
{
    const dsm_pieces_t pages = dsm_single_pages(bed);
    const uint64_t *word = (const uint64_t *)bed->remote;
    const size_t per_page = bed->page / DSM_ELEMENT;
    uint64_t differ = 0;
    for (uint64_t i = 0; i < pages.count; i++) {
        const size_t first = dsm_piece(bed, &pages, i) / DSM_ELEMENT;
        for (size_t k = 0; k < per_page; k++) {
            uint64_t before = words_at(bed->stamp, first + k);
            differ |= word[first + k] ^ (changes(amount, k) ? ~before : before);
        }
    }
    return !differ;
}

static int repeat(dsm_bed_t *bed, const dsm_part_t *part,
                  const dsm_case_t *what, uint64_t bytes, double *f,
                  bool *wrong)
{
    const dsm_pieces_t pages = dsm_single_pages(bed);
    (void)part, (void)bytes;
    int rc = dsm_bed_renew(bed, &pages);
    if (!rc && dsm_is_client(bed))
        rc = measure(bed, what->amount, f);
    if (!rc)
        rc = ddsm_barrier(bed->space);
    if (!rc && dsm_is_home(bed))
        *wrong = !is_right(bed, what->amount);
    return rc;
}

const dsm_part_t dsm_diff = {
    .name = "diff",
    .kind = DSM_DIFF,
    .what = "a page that the last rank writes and rank 0 is the home of: twin "
            "(the fault), compare and pieces (the flush, at an unlock)",
    .cases = {{"one-element", ONE}, {"every-2nd", HALF}, {"whole", ALL}},
    .ncases = 3,
    .paged = true,
    .figures = {FIGURE_TWIN, FIGURE_COMPARE, FIGURE_PIECES},
    .nfigures = 3,
    .gains = FIGURE_TIME,
    .repeat = repeat,
};
