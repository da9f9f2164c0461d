/* SPDX-License-Identifier: BSD-3-Clause */
/* Jacobi's method on a grid whose border is fixed: each cell becomes the mean
 * of the four around it. Rows in blocks, a barrier after each step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "examples/cluster_openmp/kernels.h"
#include "program.h"

#define OPERATIONS 4 /* for a cell in a step */

typedef struct jacobi {
    uint64_t rows, columns;
    double *grid[2];    /* before and after a step, in turn */
    size_t first, last; /* this rank's rows */
} jacobi_t;

static uint64_t grid_bytes(const options_t *o)
{
    return o->dsm.rows * o->dsm.columns * sizeof(double);
}

static uint64_t shared_bytes(const options_t *o, unsigned ranks, uint64_t page)
{
    (void)ranks;
    return 2 * program_pages(grid_bytes(o), page);
}

static void describe(const options_t *o, char *text, size_t size)
{
    snprintf(text, size, "%llu x %llu cells, %llu steps",
             (unsigned long long)o->dsm.rows,
             (unsigned long long)o->dsm.columns,
             (unsigned long long)o->dsm.steps);
}

static void fill(const jacobi_t *j, unsigned seed)
{
    for (unsigned i = 0; i < 2; i++)
        for (uint64_t at = j->first * j->columns; at < j->last * j->columns;
             at++)
            j->grid[i][at] = program_uniform(seed, at);
}

/* This rank's rows that change: all but the border of the grid. */
static void inner(const jacobi_t *j, size_t *first, size_t *last)
{
    *first = j->first ? j->first : 1;
    *last = j->last < j->rows ? j->last : j->rows - 1;
}

static void sweep(const jacobi_t *j, const double *from, double *to)
{
    size_t first, last;
    inner(j, &first, &last);
    for (uint64_t r = first; r < last; r++) {
        const double *here = from + r * j->columns;
        double *out = to + r * j->columns;
        for (uint64_t c = 1; c + 1 < j->columns; c++)
            out[c] = jacobi_mean(here + c, j->columns);
    }
}

static double sweep_operations(const jacobi_t *j)
{
    size_t first, last;
    inner(j, &first, &last);
    return first < last ? OPERATIONS * (double)((last - first)) *
                              (double)(j->columns - 2)
                        : 0;
}

/* ------------------------------------------------------------ one alone --- */

static double operations(const options_t *o)
{
    const jacobi_t j = {
        .rows = o->dsm.rows, .columns = o->dsm.columns, .last = o->dsm.rows};
    return sweep_operations(&j) * (double)o->dsm.steps;
}

static void *alone(const options_t *o, unsigned seed, uint64_t *ns)
{
    jacobi_t j = {
        .rows = o->dsm.rows, .columns = o->dsm.columns, .last = o->dsm.rows};
    for (unsigned i = 0; i < 2; i++)
        j.grid[i] = malloc(grid_bytes(o));
    if (!j.grid[0] || !j.grid[1]) {
        free(j.grid[0]);
        free(j.grid[1]);
        return NULL;
    }
    fill(&j, seed);
    uint64_t from = clock_ns();
    for (uint64_t s = 0; s < o->dsm.steps; s++)
        sweep(&j, j.grid[s % 2], j.grid[(s + 1) % 2]);
    *ns = clock_ns() - from;
    free(j.grid[(o->dsm.steps + 1) % 2]);
    return j.grid[o->dsm.steps % 2];
}

/* ------------------------------------------------------------ all ranks --- */

static void *open_grids(dsm_bed_t *bed)
{
    const ddsm_place_t place = {.element = sizeof(double)};
    jacobi_t *j = malloc(sizeof *j);
    if (!j)
        return NULL;
    *j = (jacobi_t){.rows = bed->opts->dsm.rows,
                    .columns = bed->opts->dsm.columns};
    ddsm_part(bed->space, 0, j->rows, &j->first, &j->last);
    for (unsigned i = 0; i < 2; i++) {
        j->grid[i] = ddsm_alloc(bed->space, grid_bytes(bed->opts), &place);
        if (!j->grid[i]) {
            free(j);
            return NULL;
        }
    }
    return j;
}

static void begin(const program_run_t *r)
{
    fill(r->data, r->seed);
}

static int prefetch_rows(program_run_t *r, const double *grid, size_t first,
                         size_t last, bool writable)
{
    const jacobi_t *j = r->data;
    return program_prefetch(r, grid + first * j->columns,
                            (last - first) * j->columns * sizeof *grid,
                            writable);
}

/* Prefetches the neighbours' rows, and makes the rank's own rows writable. */
static int prefetch(program_run_t *r, const double *from, const double *to)
{
    const jacobi_t *j = r->data;
    int rc = 0;
    if (j->first == j->last)
        return 0;
    if (j->first)
        rc = prefetch_rows(r, from, j->first - 1, j->first, false);
    if (!rc && j->last < j->rows)
        rc = prefetch_rows(r, from, j->last, j->last + 1, false);
    return rc ? rc : prefetch_rows(r, to, j->first, j->last, true);
}

static int run(program_run_t *r)
{
    const jacobi_t *j = r->data;
    int rc = 0;
    for (uint64_t s = 0; !rc && s < r->bed->opts->dsm.steps; s++) {
        const double *from = j->grid[s % 2];
        double *to = j->grid[(s + 1) % 2];
        rc = prefetch(r, from, to);
        if (rc)
            break;
        program_enter(r);
        sweep(j, from, to);
        program_leave(r, sweep_operations(j));
        rc = program_barrier(r);
    }
    return rc;
}

static bool is_right(const program_run_t *r, const void *solution)
{
    const jacobi_t *j = r->data;
    size_t at = j->first * j->columns;
    return !memcmp(j->grid[r->bed->opts->dsm.steps % 2] + at,
                   (const double *)solution + at,
                   (j->last - j->first) * j->columns * sizeof(double));
}

static const dsm_program_t program = {.describe = describe,
                                      .bytes = shared_bytes,
                                      .open = open_grids,
                                      .close = free,
                                      .begin = begin,
                                      .run = run,
                                      .is_right = is_right,
                                      .alone = alone,
                                      .operations = operations};

const dsm_part_t dsm_jacobi = {
    .name = "jacobi",
    .kind = DSM_JACOBI,
    .what = "Jacobi's method, rows in blocks: the slowest rank; faults and "
            "barriers, means over the ranks; gain: of their sum",
    .program = &program,
    PROGRAM_MEASURES(3),
};
