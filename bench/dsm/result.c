/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/launch/shared.h"
#include "program.h"
#include "result.h"

const char *dsm_figure_name(dsm_figure_t figure)
{
    static const char *const names[DSM_FIGURES] = {
        [FIGURE_TIME] = "time_us",
        [FIGURE_PINGPONG] = "pingpong_us",
        [FIGURE_COPY] = "copy_us",
        [FIGURE_GET] = "get_us",
        [FIGURE_RATIO] = "ratio",
        [FIGURE_TWIN] = "twin_us",
        [FIGURE_COMPARE] = "compare_us",
        [FIGURE_PIECES] = "pieces_us",
        [FIGURE_COMMUNICATION] = "communication_us",
        [FIGURE_FAULTS] = "faults_us",
        [FIGURE_BARRIERS] = "barriers_us",
        [FIGURE_LOCKS] = "locks_us"};
    return names[figure];
}

static unsigned sizes_of(const dsm_part_t *part, const options_t *opts)
{
    return part->sized ? opts->nsizes : 1;
}

static unsigned count_cells(const options_t *opts, unsigned nsetups)
{
    unsigned count = 0;
    for (unsigned p = 0; p < DSM_PARTS; p++)
        if (dsm_chosen(opts, (dsm_kind_t)p))
            count +=
                sizes_of(dsm_parts[p], opts) * dsm_parts[p]->ncases * nsetups;
    return count;
}

static size_t result_size(unsigned ncells)
{
    return sizeof(dsm_result_t) + ncells * sizeof(dsm_cell_t);
}

static void add_group(dsm_result_t *r, const dsm_part_t *part, unsigned size)
{
    uint64_t bytes = part->sized   ? r->opts->sizes[size]
                     : part->paged ? dsm_page(r->opts)
                                   : 0;
    dsm_group_t *group = &r->groups[r->ngroups++];
    *group = (dsm_group_t){r->ncells, part->ncases * r->nsetups};
    for (unsigned i = 0; i < group->count; i++) {
        dsm_cell_t *cell = &r->cells[r->ncells++];
        cell->part = part;
        cell->what = i / r->nsetups;
        cell->setup = i % r->nsetups;
        cell->bytes = bytes;
    }
}

dsm_result_t *dsm_result_create(const bench_test_t *test, const options_t *opts,
                                const dsm_setup_t *setups, unsigned nsetups)
{
    unsigned ncells = count_cells(opts, nsetups);
    dsm_result_t *r = shared_alloc(result_size(ncells));
    if (!r)
        return NULL;
    r->test = test;
    r->opts = opts;
    r->setups = setups;
    r->nsetups = nsetups;
    r->partial = true; /* until all is there */
    machine_describe(&r->machine, opts->simulated);
    for (unsigned p = 0; p < DSM_PARTS; p++)
        for (unsigned s = 0; dsm_chosen(opts, (dsm_kind_t)p) &&
                             s < sizes_of(dsm_parts[p], opts);
             s++)
            add_group(r, dsm_parts[p], s);
    return r;
}

void dsm_result_destroy(dsm_result_t *r)
{
    if (!r)
        return;
    for (unsigned p = 0; p < DSM_PARTS; p++)
        for (unsigned seed = 0; seed < DSM_SEEDS; seed++)
            free(r->solutions[p][seed]);
    munmap(r, result_size(r->ncells));
}

summary_t dsm_result_figure(const dsm_result_t *r, const dsm_cell_t *cell,
                            dsm_figure_t figure)
{
    const sampling_t rule = options_sampling(r->opts);
    double values[STATS_MAX];
    memcpy(values, cell->values[figure], cell->count * sizeof *values);
    return sampling_summary(&rule, values, cell->count);
}

summary_t dsm_result_rate(const dsm_result_t *r, const dsm_cell_t *cell)
{
    const sampling_t rule = options_sampling(r->opts);
    double values[STATS_MAX];
    for (unsigned i = 0; i < cell->count; i++)
        values[i] = cell->bytes
                        ? (double)cell->bytes / cell->values[FIGURE_TIME][i]
                        : NAN;
    return sampling_summary(&rule, values, cell->bytes ? cell->count : 0);
}

/* The row of the same case over the first rail alone. */
static const dsm_cell_t *single(const dsm_result_t *r, const dsm_cell_t *like)
{
    for (unsigned i = 0; i < r->ncells; i++) {
        const dsm_cell_t *c = &r->cells[i];
        const setup_t *how = &r->setups[c->setup].how;
        if (c->part == like->part && c->what == like->what &&
            c->bytes == like->bytes && how->engine == DRAIL_ENGINE_SINGLE &&
            how->rail == 0 && c->count)
            return c;
    }
    return NULL;
}

double dsm_result_gain(const dsm_result_t *r, const dsm_cell_t *cell)
{
    const dsm_cell_t *base = single(r, cell);
    dsm_figure_t by = cell->part->gains;
    return base ? dsm_result_figure(r, base, by).median /
                      dsm_result_figure(r, cell, by).median
                : NAN;
}

double dsm_result_faults(const dsm_result_t *r, const dsm_cell_t *cell)
{
    return cell->part->program
               ? 100 * dsm_result_figure(r, cell, FIGURE_FAULTS).median /
                     dsm_result_figure(r, cell, FIGURE_TIME).median
               : NAN;
}

double dsm_result_alone(const dsm_result_t *r, const dsm_part_t *part)
{
    const summary_t *us = &r->alone_us[part->kind];
    if (!part->program)
        return NAN;
    if (!r->opts->simulated)
        return us->n ? us->median : NAN;
    return part->program->operations(r->opts) / r->opts->dsm.rate * 1e6;
}

double dsm_result_speedup(const dsm_result_t *r, const dsm_cell_t *cell)
{
    return dsm_result_alone(r, cell->part) /
           dsm_result_figure(r, cell, FIGURE_TIME).median;
}
