/* SPDX-License-Identifier: BSD-3-Clause */
/* A test between two ranks, from the checked options to the report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "bench/options/parsers.h"
#include "bench/launch/launch.h"
#include "bench/limits/limit.h"
#include "measure.h"
#include "bench/launch/outcome.h"
#include "bench/report/output.h"
#include "report_pair.h"
#include "bench/test.h"

static const char *const op_list[] = {"put", "get", "send", NULL};
static const option_names_t ops = {op_list, OP_PUT, offsetof(options_t, nops),
                                   3};

const option_row_t pair_options[PAIR_OPTION_ROWS] = {
    {"--consume", NULL,
     "ping-pong: the target copies each message and sends the copy back",
     .parse = option_parse_flag, .field = offsetof(options_t, consume)},
    {"--pingpong", "P",
     "auto: the target polls for the end of a message where it can; notify: it "
     "always waits for a notification (default auto)",
     .parse = option_parse_pingpong, .field = offsetof(options_t, notified)},
    {"--op", "O,...",
     "what moves the messages: put (RDMA writes), get (RDMA reads), send (the "
     "target receives) (default put)",
     .parse = option_parse_names, .field = offsetof(options_t, ops),
     .names = &ops},
    {"--batch", "N", "messages per batch (default 20)",
     .parse = option_parse_count, .field = offsetof(options_t, batch), .min = 1,
     .max = 10000},
    {"--window", "N",
     "messages under way: post the next when the oldest is complete (default: "
     "batches, each with an answer)",
     .parse = option_parse_count, .field = offsetof(options_t, window),
     .min = 1, .max = 10000},
    {"--buffers", "N",
     "buffers that messages use in turn, on both sides; off-cache: four times "
     "the last cache (default 1)",
     .parse = option_parse_buffers, .field = offsetof(options_t, buffers),
     .min = 1, .max = 65536},
    {"--read", NULL,
     "the receiver reads each byte, then answers; each message of a batch has "
     "a buffer",
     .parse = option_parse_flag, .field = offsetof(options_t, read)},
};

/* The ranks inherit this from the process that forks them. */
typedef struct pair {
    command_table_t table;
    result_t result;
    outputs_t outputs;
    outcome_t *outcome;
    cores_t cores; /* of the job: a pinned rank sees only its own */
} pair_t;

static void warn(const pair_t *pair, const char *text)
{
    fprintf(stderr, "%s: warning: %s\n", pair->table.test->table.command, text);
}

static void note_crowding(pair_t *pair, const crowd_t *crowd)
{
    result_t *r = &pair->result;
    unsigned threads = crowd_threads(r->opts);
    if (!crowd->shared)
        return;
    notes_add(&r->notes, "%u ranks with %u thread%s each share %u core%s",
              crowd->ranks, threads, threads == 1 ? "" : "s", crowd->cores,
              crowd->cores == 1 ? "" : "s");
    warn(pair, r->notes.text[r->notes.count - 1]);
}

static bool has_op(const result_t *r, op_kind_t op)
{
    for (unsigned i = 0; i < r->opts->nops; i++)
        if (r->opts->ops[i] == op)
            return true;
    return false;
}

/* Adds notes on how rows of the ping-pong wait: they may differ. */
static void note_pingpong(result_t *r, const session_t *s)
{
    char rails[128] = "";
    size_t used = 0;
    for (unsigned i = 0; i < r->plan->count && used < sizeof rails; i++) {
        const setup_t *setup = &r->plan->setups[i];
        if (pingpong_polls(s, setup))
            used +=
                (size_t)snprintf(rails + used, sizeof rails - used, "%s%s",
                                 used ? "," : "", r->opts->rails[setup->rail]);
    }
    if (has_op(r, OP_GET))
        notes_add(&r->notes,
                  "ping-pong of reads: rank 0 reads, then reads again; "
                  "the time is that of one read");
    if (has_op(r, OP_SEND))
        notes_add(&r->notes, "ping-pong of sends: the target receives the "
                             "message and sends one back");
    if (!has_op(r, OP_PUT))
        return;
    if (used)
        notes_add(&r->notes,
                  "ping-pong: with engine single over %s, the target polls the "
                  "last byte of a message",
                  rails);
    notes_add(&r->notes,
              "ping-pong: in %s, the target waits for a notification",
              used                ? "all other rows of writes, and with 0 bytes"
              : r->opts->nops > 1 ? "every row of writes"
                                  : "every row");
    if (r->opts->consume)
        notes_add(&r->notes, "ping-pong: the target copies each message and "
                             "sends the copy back");
}

static void note_buffers(result_t *r, const session_t *s)
{
    if (!options_buffers(r->opts))
        return;
    if (r->opts->buffers == BUFFERS_OFF_CACHE)
        notes_add(&r->notes,
                  "messages use buffers of %.0f MB in turn on each side: four "
                  "times the last cache",
                  (double)s->room / 1e6);
    if (has_op(r, OP_PUT) && !r->opts->window)
        notes_add(&r->notes,
                  "the puts of a batch complete one by one; the batch "
                  "of the paper has one completion for all");
    if (r->opts->read)
        notes_add(&r->notes,
                  "the receiver reads each byte of a message, within "
                  "the time that is measured");
}

/* Properties that only open rails have. */
static void describe_rails(pair_t *pair, session_t *session)
{
    result_t *r = &pair->result;
    note_crowding(pair, &session->crowd);
    r->threshold = drail_config_of(session->rail)->stripe_threshold;
    memcpy(r->pinning, session->pinning, sizeof r->pinning);
    note_buffers(r, session);
    if (rail_in_memory(drail_rail_at(session->rail, 0)) &&
        r->test->loops[0]->batched && !options_buffers(r->opts))
        notes_add(&r->notes,
                  "all messages of a batch use the same buffer, as in the "
                  "paper; over shared memory, messages that fit stay in the "
                  "writer's cache (--buffers off-cache avoids that)");
    for (unsigned i = 0; i < r->opts->nrails; i++)
        r->rails[i] = *drail_rail_at(session->rail, i);
    if (r->test->nloops > 1)
        note_pingpong(r, session);
    for (unsigned n = notes_add_rails(&r->notes, session->rail); n > 0; n--)
        warn(pair, r->notes.text[r->notes.count - n]);
}

static int write_report(pair_t *pair)
{
    if (!outputs_write(&pair->outputs, pair_report, &pair->result))
        return 0;
    outcome_set(pair->outcome, 0, DRAIL_EINVAL, "can't write the result: %s",
                strerror(errno));
    return 1;
}

static void note_tails(result_t *r)
{
    unsigned rows = 0;
    for (unsigned i = 0; i < r->ncells; i++) {
        if (!cell_measured(r, &r->cells[i]))
            continue;
        figures_t f = result_figures(r, &r->cells[i]);
        rows += f.latency[0].p99 < f.latency[0].us.median;
    }
    notes_add_tails(&r->notes, rows);
}

static unsigned count_invalid(const result_t *r)
{
    unsigned count = 0;
    for (unsigned i = 0; i < r->ncells; i++)
        count += r->cells[i].validity == INVALID;
    return count;
}

static int lead(pair_t *pair, session_t *session)
{
    char where[128];
    describe_rails(pair, session);
    limits_t *limits = NULL;
    int rc = limits_open(&limits, &pair->result, session->rail, &pair->cores);
    snprintf(where, sizeof where, "limit of this machine");
    if (!rc)
        rc = measure(session, &pair->result, limits, where, sizeof where);
    limits_close(limits);
    traffic_add(&pair->result.traffic, session->rail);
    if (!rc)
        rc = traffic_gather(&pair->result.traffic, session->job);
    pair->result.partial = rc != 0;
    if (rc)
        outcome_set(pair->outcome, 0, rc, "%s: %s: %s", where,
                    drail_strerror(rc), drail_last_error(session->rail));
    note_tails(&pair->result);
    int status = write_report(pair);
    unsigned invalid = count_invalid(&pair->result);
    if (!rc && !status && invalid)
        outcome_set(pair->outcome, 0, DRAIL_EDAT,
                    "validation failed in %u of %u cases", invalid,
                    pair->result.ncells);
    return rc || status || invalid;
}

static int follow(pair_t *pair, session_t *session)
{
    traffic_t traffic = {0};
    int rc = command_follow(&pair->table, session);
    traffic_add(&traffic, session->rail);
    if (!rc)
        rc = traffic_gather(&traffic, session->job);
    if (rc)
        outcome_set(pair->outcome, session->rank, rc, "rank %u: %s: %s",
                    session->rank, drail_strerror(rc),
                    drail_last_error(session->rail));
    return rc != 0;
}

static int rank_main(drail_job_t *job, void *arg)
{
    pair_t *pair = arg;
    session_t session;
    drail_error_t err = {0};
    int status = 1;

    int rc = session_open(&session, job, pair->result.opts, &err);
    if (rc)
        outcome_set(pair->outcome, drail_job_rank(job), rc, "%s", err.text);
    else
        status =
            session.rank == 0 ? lead(pair, &session) : follow(pair, &session);
    session_close(&session);
    return status;
}

/* Why the test refuses these options; NULL: it does not. */
static const char *refused(const bench_test_t *test, const options_t *opts)
{
    bool puts = true, sends = false, has_put = false;
    for (unsigned i = 0; i < opts->nops; i++) {
        puts &= opts->ops[i] == OP_PUT;
        has_put |= opts->ops[i] == OP_PUT;
        sends |= opts->ops[i] == OP_SEND;
    }
    if (sends && test->loops[0]->directions == 2 && test->loops[0]->batched)
        return "--op: 'send' is wrong; allowed: put, get (a sender waits for "
               "receives, which a rank that sends as well does not make)";
    if (opts->buffers == BUFFERS_OFF_CACHE && opts->simulated)
        return "--buffers: 'off-cache' is wrong with simulated rails, which "
               "have no caches; allowed: a number";
    if (opts->read && opts->simulated)
        return "--read: is wrong with simulated rails, where reading takes no "
               "time; allowed: other --rails";
    if (opts->read && opts->window && has_put)
        return "--read: is wrong with --window, as nobody is told of single "
               "writes; allowed: one of the two, or --op get, send";
    if (opts->read && opts->buffers && opts->buffers < options_apart(opts))
        return "--buffers: too few for --read, as messages would be written "
               "over before; allowed: as many as --batch and --window, or more";
    if (opts->consume && !puts)
        return "--consume: is wrong with reads and sends; allowed: --op put";
    return NULL;
}

static int check_options(const bench_test_t *test, const options_t *opts)
{
    if (opts->ranks != 2) {
        if (opts->follows)
            return -1;
        fprintf(stderr, "%s: --ranks: '%llu' is wrong; allowed: 2\n",
                test->table.command, (unsigned long long)opts->ranks);
        return -1;
    }
    if (opts->ppn > 2) {
        if (opts->follows)
            return -1;
        fprintf(stderr, "%s: --ppn: '%llu' is wrong; allowed: 1 or 2\n",
                test->table.command, (unsigned long long)opts->ppn);
        return -1;
    }
    const char *why = refused(test, opts);
    if (why && !opts->follows)
        fprintf(stderr, "%s: %s\n", test->table.command, why);
    return why ? -1 : 0;
}

int pair_run(const bench_test_t *test, const options_t *opts)
{
    plan_t plan;
    pair_t pair = {.table = {test, &plan},
                   .result = {.test = test, .opts = opts, .plan = &plan}};
    int status = 2;

    if (check_options(test, opts) ||
        outputs_open(&pair.outputs, opts, test->table.command))
        goto out;
    status = 1;
    plan_make(&plan, opts);
    machine_describe(&pair.result.machine, opts->simulated);
    cores_allowed(&pair.cores);
    if (opts->validate)
        pair.result.seed = content_seed();

    pair.outcome = outcome_create((unsigned)opts->ranks);
    if (!pair.outcome || result_allocate(&pair.result)) {
        fprintf(stderr, "%s: out of memory\n", test->table.command);
        goto out;
    }
    status =
        launch_job(test->table.command, opts, pair.outcome, rank_main, &pair);
out:
    result_free(&pair.result);
    if (pair.outcome)
        outcome_destroy(pair.outcome);
    outputs_discard(&pair.outputs);
    return status;
}
