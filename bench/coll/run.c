/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "each.h"
#include "measure.h"
#include "model.h"
#include "run.h"
#include "bench/clock.h"
#include "bench/pair/content.h"
#include "bench/launch/launch.h"
#include "dapl_rail/platform/timens.h"

/* The ranks inherit this from the process that forks them. */
typedef struct context {
    coll_result_t *result;
    const coll_work_t *work;
    outcome_t *outcome;
    void *cards; /* coll_run_t's */
} context_t;

/* Properties that only open rails have. */
static void describe_rails(coll_result_t *r, const drail_t *rail)
{
    for (unsigned i = 0; i < r->opts->nrails; i++)
        r->rails[i] = *drail_rail_at(rail, i);
    notes_add_rails(&r->notes, rail);
}

static bool bed_used(const coll_plan_t *plan, zero_copy_t zero_copy)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->setups[i].zero_copy == zero_copy)
            return true;
    return false;
}

/* Rank 0 collects the cores of all ranks. */
static int tell_pinning(coll_run_t *run)
{
    _Static_assert(sizeof(pinning_t) <= COLL_CARD_BYTES, "cards have room");
    int rc = drail_job_allgather(run->job, &run->pinning, sizeof run->pinning,
                                 run->cards, -1);
    if (!rc && run->rank == 0)
        memcpy(coll_pinning(run->result), run->cards,
               run->ranks * sizeof run->pinning);
    return rc;
}

/* The first bed also describes the rails and measures the model. */
static int open_beds(coll_run_t *run, drail_error_t *err)
{
    const coll_plan_t *plan = run->plan;
    coll_bed_t *first = NULL;
    int rc = 0;
    for (unsigned z = 0; !rc && z < COLL_BEDS; z++) {
        if (!bed_used(plan, (zero_copy_t)z))
            continue;
        rc = coll_bed_open(&run->bed[z], run->job, plan, &run->pinning, err);
        first = first ? first : &run->bed[z];
    }
    if (rc)
        return rc;
    if (!run->opts->no_pin)
        session_pin(&run->pinning, run->opts);
    if (run->rank == 0)
        describe_rails(run->result, first->rail);
    dcoll_cost_model_t model;
    rc = tell_pinning(run);
    if (!rc)
        rc = coll_model_measure(first, run, &model);
    if (!rc && run->rank == 0)
        run->result->model = model;
    for (unsigned z = 0; !rc && z < COLL_BEDS; z++)
        if (run->bed[z].rail)
            rc = coll_bed_team(&run->bed[z], run->job, plan, (zero_copy_t)z,
                               err);
    return rc;
}

/* The last error sentence of a team or transport. */
static const char *why(const coll_run_t *run)
{
    const char *text = "";
    for (unsigned z = 0; z < COLL_BEDS && !*text; z++) {
        if (run->bed[z].team)
            text = dcoll_last_error(run->bed[z].team);
        if (run->bed[z].rail && !*text)
            text = drail_last_error(run->bed[z].rail);
    }
    return text;
}

static void tell(coll_run_t *run, outcome_t *outcome, int rc)
{
    char label[128];
    const coll_setup_t *setup = &run->plan->setups[run->cell->setup];
    coll_setup_label(run->plan, setup, label, sizeof label);
    outcome_set(outcome, run->rank, rc, "%s, %llu bytes: rank %u: %s: %s",
                label, (unsigned long long)run->cell->bytes, run->rank,
                drail_strerror(rc), why(run));
}

static void close_beds(coll_run_t *run)
{
    for (unsigned z = 0; z < COLL_BEDS; z++)
        if (run->bed[z].rail)
            coll_bed_close(&run->bed[z]);
}

/* If so, there is no common clock. */
static bool several_hosts(const options_t *opts)
{
    return opts->locals && opts->locals < opts->ranks;
}

static void choose_start(coll_result_t *r)
{
    r->start = r->opts->start != START_AUTO                ? r->opts->start
               : r->crowd.shared || several_hosts(r->opts) ? START_BARRIER
                                                           : START_TIME;
    crowd_note(&r->crowd, &r->notes);
    if (r->opts->unequal)
        notes_add(&r->notes, "blocks of different sizes: that of rank r has "
                             "(r + 1)/N of the bytes");
    if (r->opts->paced)
        notes_add(&r->notes, "paced: the messages of a step complete before "
                             "those of the next step are posted");
    if (r->opts->no_payload)
        notes_add(&r->notes, "no payload: no buffer is touched and no byte is "
                             "moved; only the time of the bytes passes");
    if (r->plan->shape.nnodes > 1 && !several_hosts(r->opts) &&
        !r->opts->simulated)
        notes_add(&r->notes, "%u nodes are emulated on one host",
                  r->plan->shape.nnodes);
}

/* All ranks take rank 0's choices. Launched ranks each have their own result,
 * so each has chosen for itself before. */
static int agree(coll_run_t *run)
{
    struct choice {
        uint64_t seed;
        start_mode_t start;
    } mine = {.seed = run->result->seed};
    const struct choice *all = run->cards;
    if (!run->opts->locals)
        return 0;
    int rc = crowd_find(run->job, run->opts, &run->result->crowd);
    if (rc)
        return rc;
    choose_start(run->result);
    mine.start = run->result->start;
    rc = drail_job_allgather(run->job, &mine, sizeof mine, run->cards, -1);
    if (!rc) {
        run->result->seed = all[0].seed;
        run->result->start = all[0].start;
    }
    return rc;
}

/* Sums the traffic of all ranks, if none has failed. */
static int tell_traffic(const coll_run_t *run, int failed)
{
    traffic_t traffic = {0};
    for (unsigned z = 0; z < COLL_BEDS; z++)
        if (run->bed[z].rail)
            traffic_add(&traffic, run->bed[z].rail);
    int rc = failed ? failed : traffic_gather(&traffic, run->job);
    if (run->rank == 0)
        run->result->traffic = traffic;
    return rc;
}

static int rank_main(drail_job_t *job, void *arg)
{
    context_t *context = arg;
    coll_result_t *r = context->result;
    drail_error_t err = {0};
    coll_run_t *run = calloc(1, sizeof *run);
    if (!run)
        return 1;
    *run = (coll_run_t){
        .job = job,
        .rank = drail_job_rank(job),
        .ranks = drail_job_size(job),
        .result = r,
        .work = context->work,
        .plan = r->plan,
        .opts = r->opts,
        .pinning = session_pinning(r->opts, drail_job_rank(job)),
        .ahead_ns = clock_elsewhere ? 0 : timens_ahead_ns(),
        .lead_ns = coll_first_lead(drail_job_size(job)),
        .each_lead_ns = coll_first_lead(drail_job_size(job)),
        .cell = &r->cells[0],
        .cards = context->cards,
    };
    int rc = agree(run);
    run->shares_cores = coll_shares_cores(&r->crowd);
    if (!rc)
        rc = open_beds(run, &err);
    if (rc)
        outcome_set(context->outcome, run->rank, rc, "%s",
                    *err.text ? err.text : why(run));
    else if ((rc = coll_measure(run)))
        tell(run, context->outcome, rc);
    /* this also waits until all ranks have finished */
    rc = tell_traffic(run, rc);
    if (!rc)
        close_beds(run);
    free(run);
    return rc != 0;
}

static void note_times(coll_result_t *r)
{
    unsigned invalid = 0, kept = 0, tails = 0;
    for (unsigned i = 0; i < r->ncells; i++) {
        const coll_figures_t f = coll_figures(r->opts, &r->cells[i]);
        tails += r->cells[i].tail.p99 && f.p99 < f.us.median;
        invalid += r->cells[i].invalid;
        kept += r->cells[i].kept_late;
    }
    notes_add_tails(&r->notes, tails);
    if (invalid)
        notes_add(&r->notes,
                  "%u repeats began late on some rank and were done again, up "
                  "to 4 times each",
                  invalid);
    if (kept)
        notes_add(
            &r->notes,
            "%u repeats are INVALID: some rank began late each time (marked ! "
            "under late); --start barrier needs no common time",
            kept);
}

/* Refuses options that need a common clock, if there is none. Only one rank
 * prints the message. */
static int check_clocks(const coll_result_t *r)
{
    const options_t *opts = r->opts;
    if (!several_hosts(opts) || !(opts->start == START_TIME || opts->each))
        return 0;
    if (opts->follows)
        return -1;
    if (opts->start == START_TIME)
        option_wrong(&r->test->table, "--start", "time",
                     "barrier, as the hosts' clocks differ");
    else
        option_wrong(
            &r->test->table, opts->histogram ? "--histogram" : "--each",
            "several hosts", "ranks of one host, as the hosts' clocks differ");
    return -1;
}

int coll_run(coll_result_t *r, const coll_work_t *work)
{
    context_t context = {r, work, outcome_create((unsigned)r->opts->ranks),
                         calloc(r->opts->ranks, COLL_CARD_BYTES)};
    int status = 1;
    if (!context.outcome || !context.cards) {
        fprintf(stderr, "%s: out of memory\n", r->test->table.command);
        goto out;
    }
    status = 2;
    if (check_clocks(r))
        goto out;
    if (!r->opts->locals) { /* else ranks exchange this in agree() */
        r->crowd = crowd_of_forked(r->opts, crowd_cores());
        choose_start(r);
    }
    for (unsigned i = 0; work->describe && i < r->ncells; i++)
        work->describe(r->plan, &r->cells[i]);
    if (r->opts->validate)
        r->seed = content_seed();
    status = launch_job(r->test->table.command, r->opts, context.outcome,
                        rank_main, &context);
    r->partial |= status != 0; /* also by an interrupt after all was measured */
    note_times(r);
out:
    if (context.outcome)
        outcome_destroy(context.outcome);
    free(context.cards);
    return status;
}
