/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU factorization with partial pivoting, columns after one another in panels
 * that belong to the ranks in turn. The owner of a panel factors it; after a
 * barrier all read it, and update their columns behind it. The rows that were
 * swapped lie behind the panel's columns, so both come at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "examples/cluster_openmp/kernels.h"
#include "program.h"

typedef struct lu {
    size_t n;
    unsigned rank, ranks;
    uint64_t *pivot;  /* private: the row that was swapped with row k */
    double *column[]; /* n of them */
} lu_t;

static unsigned owner_of(const lu_t *l, size_t column)
{
    return (unsigned)(column / LU_WIDTH % l->ranks);
}

static bool is_mine(const lu_t *l, size_t column)
{
    return owner_of(l, column) == l->rank;
}

/* Its columns, and the rows that were swapped in it. */
static uint64_t panel_bytes(size_t n, size_t first)
{
    return (lu_end(n, first) - first) * (n * sizeof(double) + sizeof(uint64_t));
}

/* The shared rows that were swapped in a panel. */
static uint64_t *swapped(const lu_t *l, size_t first)
{
    return (uint64_t *)(l->column[lu_end(l->n, first) - 1] + l->n);
}

static uint64_t shared_bytes(const options_t *o, unsigned ranks, uint64_t page)
{
    const size_t n = o->dsm.order;
    uint64_t all = 0;
    (void)ranks;
    for (size_t first = 0; first < n; first += LU_WIDTH)
        all += program_pages(panel_bytes(n, first), page);
    return all;
}

static void describe(const options_t *o, char *text, size_t size)
{
    snprintf(text, size, "%llu x %llu numbers, panels of %d columns",
             (unsigned long long)o->dsm.order, (unsigned long long)o->dsm.order,
             LU_WIDTH);
}

static void fill(const lu_t *l, size_t column, unsigned seed)
{
    for (size_t i = 0; i < l->n; i++)
        l->column[column][i] = program_uniform(seed, column * l->n + i);
}

static double eliminate_operations(size_t k, size_t n)
{
    return 2 * (double)(n - k - 1);
}

/* Operations to update a column to the right of the panel. */
static double update_operations(size_t first, size_t n)
{
    double sum = 0;
    for (size_t k = first; k < lu_end(n, first); k++)
        sum += eliminate_operations(k, n);
    return sum;
}

static double factor_operations(size_t k, size_t end, size_t n)
{
    return (double)(n - k - 1) +
           (double)(end - k - 1) * eliminate_operations(k, n);
}

/* ------------------------------------------------------------ one alone --- */

static double operations(const options_t *o)
{
    const size_t n = o->dsm.order;
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += factor_operations(k, n, n);
    return sum;
}

static lu_t *make(size_t n, unsigned rank, unsigned ranks)
{
    lu_t *l =
        calloc(1, sizeof *l + n * sizeof *l->column + n * sizeof *l->pivot);
    if (l) {
        l->n = n;
        l->pivot = (uint64_t *)(l->column + n);
        l->rank = rank;
        l->ranks = ranks;
    }
    return l;
}

static void *solve(const options_t *o, unsigned seed, uint64_t *ns,
                   void (*factor)(const lu_t *l))
{
    const size_t n = o->dsm.order;
    lu_t *l = make(n, 0, 1);
    double *matrix = malloc(n * n * sizeof *matrix);
    if (!l || !matrix) {
        free(matrix);
        matrix = NULL;
        goto out;
    }
    for (size_t j = 0; j < n; j++) {
        l->column[j] = matrix + j * n;
        fill(l, j, seed);
    }
    uint64_t from = clock_ns();
    factor(l);
    *ns = clock_ns() - from;
out:
    free(l);
    return matrix;
}

static void without_panels(const lu_t *l)
{
    for (size_t k = 0; k < l->n; k++)
        l->pivot[k] = lu_step(l->column, k, 0, l->n, l->n);
}

static void by_panels(const lu_t *l)
{
    for (size_t first = 0; first < l->n; first += LU_WIDTH) {
        const size_t end = lu_end(l->n, first);
        for (size_t k = first; k < end; k++)
            l->pivot[k] = lu_step(l->column, k, first, end, l->n);
        for (size_t j = end; j < l->n; j++)
            lu_update(l->column, l->pivot, first, l->column[j], l->n);
    }
    for (size_t j = 0; j < l->n; j++)
        lu_finish(l->column, l->pivot, j, l->n);
}

/* The textbook's algorithm, to check results. It is slower than panels, since
 * each step passes over all columns, so speed-ups are not over it. */
static void *alone(const options_t *o, unsigned seed, uint64_t *ns)
{
    return solve(o, seed, ns, without_panels);
}

static void *timed(const options_t *o, unsigned seed, uint64_t *ns)
{
    return solve(o, seed, ns, by_panels);
}

/* ------------------------------------------------------------ all ranks --- */

static bool allocate(lu_t *l, dsm_bed_t *bed)
{
    ddsm_place_t place = {.element = sizeof(double), .homes = DDSM_ONE};
    for (size_t first = 0; first < l->n; first += LU_WIDTH) {
        place.rank = owner_of(l, first);
        double *column =
            ddsm_alloc(bed->space, panel_bytes(l->n, first), &place);
        if (!column)
            return false;
        for (size_t j = first; j < lu_end(l->n, first); j++, column += l->n)
            l->column[j] = column;
    }
    return true;
}

static void *open_matrix(dsm_bed_t *bed)
{
    lu_t *l = make(bed->opts->dsm.order, bed->rank, bed->ranks);
    if (l && allocate(l, bed))
        return l;
    free(l);
    return NULL;
}

static void begin(const program_run_t *r)
{
    const lu_t *l = r->data;
    for (size_t j = 0; j < l->n; j++)
        if (is_mine(l, j))
            fill(l, j, r->seed);
}

static int prefetch_panel(program_run_t *r, size_t first, bool writable)
{
    const lu_t *l = r->data;
    return program_prefetch(r, l->column[first], panel_bytes(l->n, first),
                            writable);
}

static int factor(program_run_t *r, size_t first)
{
    const lu_t *l = r->data;
    const size_t end = lu_end(l->n, first);
    double sum = 0;
    if (!is_mine(l, first))
        return 0;
    int rc = prefetch_panel(r, first, true);
    if (rc)
        return rc;
    program_enter(r);
    for (size_t k = first; k < end; k++) {
        l->pivot[k] = lu_step(l->column, k, first, end, l->n);
        sum += factor_operations(k, end, l->n);
    }
    memcpy(swapped(l, first), l->pivot + first,
           (end - first) * sizeof *l->pivot);
    program_leave(r, sum);
    return 0;
}

static int update(program_run_t *r, size_t first)
{
    const lu_t *l = r->data;
    const size_t end = lu_end(l->n, first);
    double sum = 0;
    int rc = end < l->n
                 ? prefetch_panel(r, first, false)
                 : program_prefetch(r, swapped(l, first),
                                    (end - first) * sizeof *l->pivot, false);
    for (size_t panel = end; !rc && panel < l->n; panel += LU_WIDTH)
        if (is_mine(l, panel))
            rc = prefetch_panel(r, panel, true);
    if (rc)
        return rc;
    program_enter(r);
    memcpy(l->pivot + first, swapped(l, first),
           (end - first) * sizeof *l->pivot);
    for (size_t j = end; j < l->n; j++)
        if (is_mine(l, j)) {
            lu_update(l->column, l->pivot, first, l->column[j], l->n);
            sum += update_operations(first, l->n);
        }
    program_leave(r, sum);
    return 0;
}

static int run(program_run_t *r)
{
    const lu_t *l = r->data;
    int rc = 0;
    for (size_t first = 0; !rc && first < l->n; first += LU_WIDTH) {
        rc = factor(r, first);
        if (!rc)
            rc = program_barrier(r);
        if (!rc)
            rc = update(r, first);
    }
    for (size_t first = 0; !rc && first < l->n; first += LU_WIDTH)
        if (is_mine(l, first))
            rc = prefetch_panel(r, first, true);
    if (rc)
        return rc;
    program_enter(r);
    for (size_t j = 0; j < l->n; j++)
        if (is_mine(l, j))
            lu_finish(l->column, l->pivot, j, l->n);
    program_leave(r, 0);
    return program_barrier(r);
}

static bool is_right(const program_run_t *r, const void *solution)
{
    const lu_t *l = r->data;
    const double *right = solution;
    for (size_t j = 0; j < l->n; j++)
        if (is_mine(l, j) &&
            memcmp(l->column[j], right + j * l->n, l->n * sizeof *right))
            return false;
    return true;
}

static const dsm_program_t program = {.describe = describe,
                                      .bytes = shared_bytes,
                                      .open = open_matrix,
                                      .close = free,
                                      .begin = begin,
                                      .run = run,
                                      .is_right = is_right,
                                      .alone = alone,
                                      .timed = timed,
                                      .operations = operations};

const dsm_part_t dsm_lu = {
    .name = "lu",
    .kind = DSM_LU,
    .what = "LU factorization with pivoting, panels in turn: the slowest rank; "
            "faults and barriers, means over the ranks; gain: of their sum",
    .program = &program,
    PROGRAM_MEASURES(3),
};
