/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/launch/launch.h"
#include "bench/report/progress.h"
#include "alone.h"
#include "program.h"
#include "run.h"

#define WARMUP_LEARNING 10

/* The ranks inherit this from the process that forks them. */
typedef struct context {
    dsm_result_t *result;
    outcome_t *outcome;
} context_t;

/* A rank's figures of a repeat. */
typedef struct card {
    double figures[DSM_FIGURES];
    bool wrong;
    bool enough;
} card_t;

typedef struct rank {
    dsm_result_t *result;
    dsm_bed_t bed;
    card_t *cards; /* of all ranks */
    sampling_t rule;
    progress_t progress;
    const dsm_group_t *group;
    unsigned cell; /* that is being measured */
} rank_t;

/* Of FIGURE_TIME the slowest rank's; of other figures the mean over the ranks
 * that have them. */
static double combined(const rank_t *k, unsigned figure)
{
    double most = NAN, sum = 0;
    unsigned n = 0;
    for (unsigned r = 0; r < k->bed.ranks; r++) {
        double value = k->cards[r].figures[figure];
        if (isnan(value))
            continue;
        most = n++ ? fmax(most, value) : value;
        sum += value;
    }
    return figure == FIGURE_TIME ? most : n ? sum / n : NAN;
}

static void record(rank_t *k, dsm_cell_t *cell, bool warms_up)
{
    for (unsigned r = 0; r < k->bed.ranks; r++)
        cell->wrong |= k->cards[r].wrong;
    if (warms_up)
        return;
    for (unsigned i = 0; i < DSM_FIGURES; i++)
        cell->values[i][cell->count] = combined(k, i);
    cell->count++;
}

static int measure(rank_t *k, unsigned index, bool warms_up)
{
    dsm_result_t *r = k->result;
    dsm_cell_t *cell = &r->cells[index];
    const dsm_part_t *part = cell->part;
    card_t card = {0};
    k->cell = index;
    if (k->bed.rank == 0)
        progress_show(&k->progress, "%s: %s: row %u of %u, repeat %u",
                      r->test->table.command, part->name, index + 1, r->ncells,
                      cell->count + !warms_up);
    for (unsigned i = 0; i < DSM_FIGURES; i++)
        card.figures[i] = NAN;
    int rc = dsm_bed_switch(&k->bed, &r->setups[cell->setup]);
    if (!rc)
        rc = part->repeat(&k->bed, part, &part->cases[cell->what], cell->bytes,
                          card.figures, &card.wrong);
    if (!rc)
        rc = drail_job_allgather(k->bed.job, &card, sizeof card, k->cards, -1);
    if (!rc && k->bed.rank == 0)
        record(k, cell, warms_up);
    return rc;
}

static int repeat(void *of, unsigned i)
{
    rank_t *k = of;
    return measure(k, k->group->first + i, false);
}

static summary_t figure(const void *of, unsigned i)
{
    const rank_t *k = of;
    return dsm_result_figure(k->result, &k->result->cells[k->group->first + i],
                             FIGURE_TIME);
}

static int agree(void *of, bool *enough)
{
    rank_t *k = of;
    const card_t card = {.enough = *enough};
    int rc = drail_job_allgather(k->bed.job, &card, sizeof card, k->cards, -1);
    if (!rc)
        *enough = k->cards[0].enough;
    return rc;
}

/* Repeats before the measurement: one, or several for setups that learn. */
static int warm_up(rank_t *k, unsigned index)
{
    const dsm_result_t *r = k->result;
    const setup_t *how = &r->setups[r->cells[index].setup].how;
    bool learns = how->engine == DRAIL_ENGINE_AUTO ||
                  how->policy == DRAIL_POLICY_ADAPTIVE;
    unsigned repeats = learns ? WARMUP_LEARNING : 1;
    int rc = 0;
    for (unsigned i = 0; !rc && i < repeats; i++)
        rc = measure(k, index, true);
    return rc;
}

static int run_group(rank_t *k, const dsm_group_t *group)
{
    const sampled_t sampled = {.count = group->count,
                               .repeat = repeat,
                               .figures = group->count,
                               .figure = figure,
                               .agree = agree,
                               .follows = k->bed.rank != 0,
                               .of = k};
    int rc = 0;
    k->group = group;
    for (unsigned i = 0; !rc && i < group->count; i++)
        rc = warm_up(k, group->first + i);
    return rc ? rc : sampling_run(&k->rule, &sampled);
}

static int run_all(rank_t *k)
{
    dsm_result_t *r = k->result;
    const unsigned alone = r->opts->simulated ? 0 : dsm_programs(r->opts);
    int rc = 0;
    k->rule = options_sampling(r->opts);
    sampling_begin(&k->rule);
    progress_init(&k->progress);
    /* time is left for the programs on one rank, which are measured later */
    for (unsigned g = 0; !rc && g < r->ngroups; g++) {
        sampling_part(&k->rule, r->ngroups - g + alone);
        rc = run_group(k, &r->groups[g]);
    }
    if (k->bed.rank == 0) {
        progress_clear(&k->progress);
        r->partial = rc != 0;
    }
    return rc;
}

static void describe_rails(rank_t *k)
{
    const drail_t *rail = ddsm_rails_take(k->bed.space);
    for (unsigned i = 0; i < drail_nrails(rail); i++)
        k->result->rails[i] = *drail_rail_at(rail, i);
    notes_add_rails(&k->result->notes, rail);
    ddsm_rails_give(k->bed.space);
}

static void tell(rank_t *k, outcome_t *outcome, int rc)
{
    const dsm_cell_t *cell = &k->result->cells[k->cell];
    outcome_set(outcome, k->bed.rank, rc, "%s %s: rank %u: %s: %s",
                cell->part->name, cell->part->cases[cell->what].name,
                k->bed.rank, drail_strerror(rc), dsm_bed_why(&k->bed));
}

/* --------------------------------------------------------------- ranks --- */

static int open_all(rank_t *k, drail_job_t *job, outcome_t *outcome,
                    drail_error_t *err)
{
    const options_t *opts = k->result->opts;
    uint64_t extra = 0;
    for (unsigned p = 0; p < DSM_PARTS; p++)
        if (program_at(opts, p))
            extra += program_at(opts, p)->bytes(opts, drail_job_size(job),
                                                dsm_page(opts));
    int rc = dsm_bed_open(&k->bed, job, opts, extra, outcome, err);
    k->bed.solutions = k->result->solutions;
    for (unsigned p = 0; !rc && p < DSM_PARTS; p++) {
        if (!program_at(opts, p))
            continue;
        k->bed.programs[p] = program_at(opts, p)->open(&k->bed);
        if (!k->bed.programs[p])
            rc = DRAIL_ENOMEM;
    }
    return rc;
}

/* How well this rank's faults were foreseen. */
static void explain(const dsm_bed_t *bed)
{
    for (unsigned i = 0; bed->opts->explain && i < DSM_PARTS; i++) {
        const ddsm_stats_t *f = &bed->foreseen[i];
        if (isnan(ddsm_efficiency(f)) || isnan(ddsm_coverage(f)))
            continue;
        fprintf(stderr,
                "explain: %s on rank %u: of %llu pages fetched along the "
                "history, %.0f%% were used (efficiency); of %llu that were "
                "needed, it had fetched %.0f%% (coverage)\n",
                dsm_parts[i]->name, bed->rank, (unsigned long long)f->predicted,
                ddsm_efficiency(f),
                (unsigned long long)(f->predicted_used + f->unpredicted),
                ddsm_coverage(f));
    }
}

static void close_all(rank_t *k)
{
    for (unsigned p = 0; p < DSM_PARTS; p++)
        if (k->bed.programs[p])
            dsm_parts[p]->program->close(k->bed.programs[p]);
    explain(&k->bed);
    dsm_bed_close(&k->bed);
}

static int rank_main(drail_job_t *job, void *arg)
{
    context_t *context = arg;
    drail_error_t err = {0};
    dsm_result_t *r = context->result;
    unsigned rank = drail_job_rank(job);
    rank_t k = {.result = r,
                .cards = calloc(drail_job_size(job), sizeof(card_t))};
    crowd_t crowd;
    int rc = k.cards ? crowd_find(job, r->opts, &crowd) : DRAIL_ENOMEM;
    if (!rc && rank == 0)
        crowd_warn(&crowd, &r->notes, r->test->table.command);
    if (!rc)
        rc = open_all(&k, job, context->outcome, &err);
    if (rc) {
        outcome_set(context->outcome, rank, rc, "%s",
                    *err.text ? err.text : drail_strerror(rc));
    } else {
        if (rank == 0)
            describe_rails(&k);
        rc = run_all(&k);
        if (rc)
            tell(&k, context->outcome, rc);
        else
            close_all(&k);
    }
    free(k.cards);
    return rc != 0;
}

int dsm_run(dsm_result_t *r)
{
    context_t context = {.result = r};
    return launch_alone(r->test->table.command, r->opts, &context.outcome,
                        rank_main, &context);
}
