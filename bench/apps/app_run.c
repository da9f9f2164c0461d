/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of an application. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app_result.h"
#include "bench/clock.h"
#include "bench/launch/launch.h"
#include "bench/report/progress.h"

/* The ranks inherit this from the process that forks them. */
typedef struct context {
    app_result_t *result;
    outcome_t *outcome;
} context_t;

/* A rank's report of a run. */
typedef struct card {
    app_times_t times;
    app_check_t check;
} card_t;

typedef struct rank {
    app_result_t *result;
    drail_job_t *job;
    unsigned rank, ranks;
    coll_bed_t bed;
    card_t *cards; /* of all ranks */
    progress_t progress;
} rank_t;

/* ---------------------------------------------------------------- runs --- */

static bool is_right(const app_result_t *r, const app_check_t *found)
{
    app_check_t whole;
    r->app->total(r->solved.problem, &whole);
    return !found->wrong && found->count == whole.count &&
           found->sum == whole.sum;
}

/* All ranks' cards, as one run; the first one only warms up. */
static void record(rank_t *k, app_cell_t *cell, bool warms_up)
{
    app_times_t all = {0};
    app_check_t found = {0};
    uint64_t slowest = 0;
    double n = 1e3 * k->ranks;
    for (unsigned r = 0; r < k->ranks; r++) {
        const card_t *c = &k->cards[r];
        if (c->times.total_ns > slowest)
            slowest = c->times.total_ns;
        if (c->times.longest > all.longest)
            all.longest = c->times.longest;
        all.total_ns += c->times.total_ns;
        all.allgather_ns += c->times.allgather_ns;
        all.exchange_ns += c->times.exchange_ns;
        all.allgathers += c->times.allgathers;
        all.allgathers_short += c->times.allgathers_short;
        all.sent += c->times.sent;
        all.messages += c->times.messages;
        found.count += c->check.count;
        found.sum += c->check.sum;
        found.wrong += c->check.wrong;
    }
    cell->wrong |= !is_right(k->result, &found);
    cell->all = all;
    if (!warms_up)
        cell->repeats[cell->count++] = (app_repeat_t){
            .slowest_us = (double)slowest / 1e3,
            .compute_us =
                (double)(all.total_ns - all.allgather_ns - all.exchange_ns) / n,
            .allgather_us = (double)all.allgather_ns / n,
            .exchange_us = (double)all.exchange_ns / n,
        };
}

/* Runs one setup once. */
static int run_once(rank_t *k, unsigned setup, bool warms_up)
{
    app_result_t *r = k->result;
    const coll_setup_t *s = &r->plan->setups[setup];
    card_t card = {0};
    app_comm_t comm = {.job = k->job,
                       .bed = &k->bed,
                       .algorithm = coll_setup_algorithm(s),
                       .rank = k->rank,
                       .ranks = k->ranks,
                       .rate = r->opts->apps.rate};
    void *part = r->app->begin(r->solved.problem, k->rank, k->ranks);
    int rc = part ? coll_bed_switch(&k->bed, &s->rail) : DRAIL_ENOMEM;
    if (!rc)
        rc = dcoll_barrier(k->bed.team);
    if (!rc) {
        uint64_t from = clock_ns();
        rc = r->app->run(part, &comm);
        comm.times.total_ns = clock_ns() - from;
    }
    if (!rc) {
        card.times = comm.times;
        r->app->check(part, &card.check);
        rc = drail_job_allgather(k->job, &card, sizeof card, k->cards, -1);
    }
    if (!rc && k->rank == 0)
        record(k, &r->cells[setup], warms_up);
    r->app->end(part);
    return rc;
}

static void show_progress(rank_t *k, unsigned setup, unsigned run)
{
    if (k->rank == 0)
        progress_show(&k->progress, "%s: setup %u of %u, run %u",
                      k->result->test->table.command, setup + 1,
                      k->result->plan->count, run);
}

static int repeat_setup(void *of, unsigned setup)
{
    rank_t *k = of;
    show_progress(k, setup, k->result->cells[setup].count + 1);
    return run_once(k, setup, false);
}

static int run_all(rank_t *k)
{
    app_result_t *r = k->result;
    const sampling_t rule = {.repeat = app_repeats(r->opts)};
    const sampled_t sampled = {
        .count = r->plan->count, .repeat = repeat_setup, .of = k};
    int rc = 0;
    progress_init(&k->progress);
    for (unsigned s = 0; !rc && s < r->plan->count; s++) {
        show_progress(k, s, 0);
        rc = run_once(k, s, true);
    }
    if (!rc)
        rc = sampling_run(&rule, &sampled);
    if (k->rank == 0) {
        progress_clear(&k->progress);
        r->partial = rc != 0;
    }
    return rc;
}

/* --------------------------------------------------------------- ranks --- */

static int open_bed(rank_t *k, drail_error_t *err)
{
    const options_t *opts = k->result->opts;
    pinning_t pinning = session_pinning(opts, k->rank);
    crowd_t crowd;
    int rc = crowd_find(k->job, opts, &crowd);
    if (rc)
        return rc;
    if (k->rank == 0)
        crowd_warn(&crowd, &k->result->notes, k->result->test->table.command);
    rc = coll_bed_open(&k->bed, k->job, k->result->plan, &pinning, err);
    if (rc)
        return rc;
    if (!opts->no_pin)
        session_pin(&pinning, opts);
    if (k->rank == 0)
        notes_add_rails(&k->result->notes, k->bed.rail);
    return coll_bed_team(&k->bed, k->job, k->result->plan, opts->zero_copy,
                         err);
}

static const char *why(const rank_t *k)
{
    const char *text = k->bed.team ? dcoll_last_error(k->bed.team) : "";
    return *text || !k->bed.rail ? text : drail_last_error(k->bed.rail);
}

static int rank_main(drail_job_t *job, void *arg)
{
    context_t *context = arg;
    drail_error_t err = {0};
    rank_t k = {.result = context->result,
                .job = job,
                .rank = drail_job_rank(job),
                .ranks = drail_job_size(job)};
    k.cards = calloc(k.ranks, sizeof *k.cards);
    int rc = k.cards ? open_bed(&k, &err) : DRAIL_ENOMEM;
    if (!rc)
        rc = run_all(&k);
    if (rc)
        outcome_set(context->outcome, k.rank, rc, "rank %u: %s: %s", k.rank,
                    drail_strerror(rc), *err.text ? err.text : why(&k));
    else /* all ranks have come: nobody is under way any more */
        coll_bed_close(&k.bed);
    free(k.cards);
    return rc != 0;
}

int app_run(app_result_t *r)
{
    context_t context = {.result = r};
    return launch_alone(r->test->table.command, r->opts, &context.outcome,
                        rank_main, &context);
}
