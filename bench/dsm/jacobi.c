/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "bench/clock.h"
#include "jacobi.h"

/* Any numbers that differ from cell to cell. */
static double initial(uint64_t row, uint64_t column)
{
    return (double)((row * 37 + column * 11) % 1009) / 1009;
}

void jacobi_begin(const jacobi_t *j, double *grid, uint64_t first,
                  uint64_t last)
{
    for (uint64_t r = first; r < last; r++)
        for (uint64_t c = 0; c < j->columns; c++)
            grid[r * j->columns + c] = initial(r, c);
}

static void clip(const jacobi_t *j, uint64_t *first, uint64_t *last)
{
    *first = *first ? *first : 1;
    *last = *last < j->rows ? *last : j->rows - 1;
}

void jacobi_sweep(const jacobi_t *j, const double *from, double *to,
                  uint64_t first, uint64_t last)
{
    clip(j, &first, &last);
    for (uint64_t r = first; r < last; r++) {
        const double *here = from + r * j->columns;
        const double *above = here - j->columns, *below = here + j->columns;
        double *out = to + r * j->columns;
        for (uint64_t c = 1; c + 1 < j->columns; c++)
            out[c] = (above[c] + below[c] + here[c - 1] + here[c + 1]) * 0.25;
    }
}

uint64_t jacobi_cells(const jacobi_t *j, uint64_t first, uint64_t last)
{
    clip(j, &first, &last);
    return first < last ? (last - first) * (j->columns - 2) : 0;
}

int jacobi_solve(jacobi_t *j, uint64_t *ns)
{
    uint64_t cells = j->rows * j->columns;
    double *grid[2] = {malloc(cells * sizeof(double)),
                       malloc(cells * sizeof(double))};
    if (!grid[0] || !grid[1]) {
        free(grid[0]);
        free(grid[1]);
        return -1;
    }
    for (unsigned i = 0; i < 2; i++)
        jacobi_begin(j, grid[i], 0, j->rows);
    uint64_t from = clock_ns();
    for (uint64_t s = 0; s < j->steps; s++)
        jacobi_sweep(j, grid[s % 2], grid[(s + 1) % 2], 0, j->rows);
    *ns = clock_ns() - from;
    free(j->solution);
    j->solution = grid[j->steps % 2];
    free(grid[(j->steps + 1) % 2]);
    return 0;
}

void jacobi_free(jacobi_t *j)
{
    free(j->solution);
    j->solution = NULL;
}
