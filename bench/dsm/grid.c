/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program on shared memory: Jacobi's method, rows in blocks, a barrier after
 * each step. Rows of neighbours come by faults, or at once before a step, when
 * its own rows are made writable, too.
 */
#include <string.h>

#include "bench/clock.h"
#include "jacobi.h"
#include "part.h"

enum { FAULTS, PREFETCH };

/* This rank's part of a run. */
typedef struct run {
    dsm_bed_t *bed;
    const jacobi_t *problem;
    size_t first, last; /* rows */
    uint64_t fault_ns, barrier_ns;
} run_t;

static int prefetch_rows(const run_t *r, const double *grid, size_t first,
                         size_t last, bool writable)
{
    size_t row = r->problem->columns;
    return first < last
               ? ddsm_prefetch(r->bed->space, grid + first * row,
                               (last - first) * row * sizeof *grid, writable)
               : 0;
}

static int prefetch(run_t *r, const double *from, const double *to)
{
    uint64_t start = clock_ns();
    size_t below = r->last < r->problem->rows ? r->last + 1 : r->last;
    if (r->first == r->last)
        return 0;
    int rc = 0;
    if (r->first)
        rc = prefetch_rows(r, from, r->first - 1, r->first, false);
    if (!rc)
        rc = prefetch_rows(r, from, r->last, below, false);
    if (!rc)
        rc = prefetch_rows(r, to, r->first, r->last, true);
    r->fault_ns += clock_ns() - start;
    return rc;
}

/* Computing takes no time of simulated ranks: what passes is that of faults.
 * Elsewhere the library's clock is right. */
static void sweep(run_t *r, const double *from, double *to)
{
    const dsm_bed_t *bed = r->bed;
    ddsm_stats_t before, after;
    uint64_t start = clock_ns();
    ddsm_stats(bed->space, &before);
    jacobi_sweep(r->problem, from, to, r->first, r->last);
    ddsm_stats(bed->space, &after);
    r->fault_ns += bed->opts->simulated ? clock_ns() - start
                                        : after.fault_ns - before.fault_ns;
    double operations =
        JACOBI_OPERATIONS * (double)jacobi_cells(r->problem, r->first, r->last);
    drail_job_compute(bed->job,
                      (uint64_t)(operations / bed->opts->dsm.rate * 1e9));
}

static int barrier(run_t *r)
{
    uint64_t start = clock_ns();
    int rc = ddsm_barrier(r->bed->space);
    r->barrier_ns += clock_ns() - start;
    return rc;
}

static int run(run_t *r, bool prefetches)
{
    double *const *grid = r->bed->grid;
    int rc = 0;
    for (uint64_t s = 0; !rc && s < r->problem->steps; s++) {
        const double *from = grid[s % 2];
        double *to = grid[(s + 1) % 2];
        if (prefetches)
            rc = prefetch(r, from, to);
        if (!rc) {
            sweep(r, from, to);
            rc = barrier(r);
        }
    }
    return rc;
}

static bool is_right(const run_t *r)
{
    size_t row = r->problem->columns, bytes = sizeof(double);
    return !memcmp(r->bed->grid[r->problem->steps % 2] + r->first * row,
                   r->problem->solution + r->first * row,
                   (r->last - r->first) * row * bytes);
}

static int repeat(dsm_bed_t *bed, const dsm_case_t *what, uint64_t bytes,
                  double *f, bool *wrong)
{
    run_t r = {.bed = bed, .problem = bed->jacobi};
    (void)bytes;
    ddsm_part(bed->space, 0, r.problem->rows, &r.first, &r.last);
    for (unsigned i = 0; i < 2; i++)
        jacobi_begin(r.problem, bed->grid[i], r.first, r.last);
    int rc = ddsm_barrier(bed->space);
    uint64_t start = clock_ns();
    if (!rc)
        rc = run(&r, what->amount == PREFETCH);
    if (rc)
        return rc;
    f[FIGURE_TIME] = (double)(clock_ns() - start) / 1e3;
    f[FIGURE_FAULTS] = (double)r.fault_ns / 1e3;
    f[FIGURE_BARRIERS] = (double)r.barrier_ns / 1e3;
    f[FIGURE_COMMUNICATION] = f[FIGURE_FAULTS] + f[FIGURE_BARRIERS];
    *wrong = !is_right(&r);
    return ddsm_barrier(bed->space);
}

const dsm_part_t dsm_jacobi = {
    .name = "jacobi",
    .what = "Jacobi's method, rows in blocks: the slowest rank; faults and "
            "barriers, means over the ranks; gain: of their sum",
    .cases = {{"faults", FAULTS}, {"prefetch", PREFETCH}},
    .ncases = 2,
    .figures = {FIGURE_COMMUNICATION, FIGURE_FAULTS, FIGURE_BARRIERS},
    .nfigures = 3,
    .gains = FIGURE_COMMUNICATION,
    .repeat = repeat,
};
