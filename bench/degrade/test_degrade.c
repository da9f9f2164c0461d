/* SPDX-License-Identifier: BSD-3-Clause */
/* railbench degrade: a stream of checked messages while rails are cut, slowed
 * and given back. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/pair/content.h"
#include "bench/launch/launch.h"
#include "bench/launch/outcome.h"
#include "bench/report/output.h"
#include "bench/report/progress.h"
#include "degrade_result.h"

#define WARM_NS    100000000u /* of each rail alone, before: not counted, … */
#define TRIAL_NS   150000000u /* … and the best of so many */
#define TRIALS     3
#define SECOND_NS  1000000000u
#define GATHER_MAX 65536

/* The ranks inherit this from the process that forks them. */
typedef struct degrade {
    const bench_test_t *test;
    degrade_result_t result;
    events_t events; /* of each run */
    outputs_t outputs;
    outcome_t *outcome;
    uint64_t seed;
} degrade_t;

/* A rank's. */
typedef struct bed {
    degrade_t *degrade;
    session_t session;
    stream_t stream;
    progress_t progress;
} bed_t;

/* ------------------------------------------------------------- streams --- */

static void subtract(drail_rail_stats_t *after,
                     const drail_rail_stats_t *before)
{
    after->put_bytes -= before->put_bytes;
    after->get_bytes -= before->get_bytes;
    after->send_bytes -= before->send_bytes;
    after->puts -= before->puts;
    after->gets -= before->gets;
    after->sends -= before->sends;
    after->recvs -= before->recvs;
    after->failures -= before->failures;
    after->retries -= before->retries;
    after->carried -= before->carried;
    after->carried_bytes -= before->carried_bytes;
    after->lost_ns -= before->lost_ns;
    after->down_ns -= before->down_ns;
}

/* Runs one stream; both ranks learn both results. The way out of band goes on
 * when no rail does. */
static int stream(bed_t *bed, uint64_t ns, hand_t *hand, bins_t *bins,
                  tally_t both[2])
{
    session_t *s = &bed->session;
    drail_rail_stats_t before[DRAIL_MAX_RAILS];
    tally_t mine;
    for (unsigned r = 0; r < drail_nrails(s->rail); r++)
        drail_rail_stats(s->rail, r, &before[r]);
    int rc = drail_job_barrier(s->job, -1);
    if (rc)
        return rc;
    if (s->rank == 0)
        stream_put(&bed->stream, ns, hand, &mine);
    else
        stream_receive(&bed->stream, bins, &mine);
    for (unsigned r = 0; r < drail_nrails(s->rail); r++) {
        drail_rail_stats(s->rail, r, &mine.rails[r]);
        subtract(&mine.rails[r], &before[r]);
    }
    return drail_job_allgather(s->job, &mine, sizeof mine, both, -1);
}

/* Rank 1's bins, and what it finds in the end, go to rank 0. */
static int gather(bed_t *bed, degrade_run_t *run)
{
    session_t *s = &bed->session;
    uint64_t wrong[2];
    tally_t *last = &run->rank[1];
    if (!run->rank[0].code && !last->code)
        stream_check(&bed->stream, last);
    int rc = drail_job_allgather(s->job, &last->wrong, sizeof last->wrong,
                                 wrong, -1);
    last->wrong = wrong[1];
    const unsigned most = GATHER_MAX / sizeof *run->bins.bytes;
    uint32_t *both = malloc(2 * GATHER_MAX);
    if (!both)
        return DRAIL_ENOMEM;
    for (unsigned at = 0; !rc && at < run->bins.count; at += most) {
        unsigned n = run->bins.count - at < most ? run->bins.count - at : most;
        rc = drail_job_allgather(s->job, run->bins.bytes + at, n * sizeof *both,
                                 both, -1);
        if (!rc)
            memcpy(run->bins.bytes + at, both + n, n * sizeof *both);
    }
    free(both);
    return rc;
}

/* ---------------------------------------------------------------- runs --- */

/* MB/s of the best of short streams in this setup; both ranks learn it. */
static int trial(bed_t *bed, const setup_t *setup, double *rate)
{
    bins_t none = {0};
    tally_t both[2];
    int rc = session_switch(&bed->session, setup);
    *rate = 0;
    for (unsigned i = 0; !rc && i <= TRIALS; i++) {
        rc = stream(bed, i ? TRIAL_NS : WARM_NS, NULL, &none, both);
        if (!rc)
            rc = both[0].code ? both[0].code : both[1].code;
        double now = (double)both[0].messages * (double)bed->stream.bytes *
                     1e3 / (double)both[0].ns;
        *rate = !rc && i ? fmax(*rate, now) : *rate;
    }
    return rc;
}

static int measure_capacity(bed_t *bed, degrade_run_t *run)
{
    capacity_t *c = &run->capacity;
    int rc = 0;
    c->nrails = bed->session.opts->nrails;
    for (unsigned r = 0; !rc && r < c->nrails; r++) {
        setup_t alone = *run->setup;
        alone.engine = DRAIL_ENGINE_SINGLE;
        alone.policy = DRAIL_POLICY_FIXED;
        alone.rail = r;
        rc = trial(bed, &alone, &c->rail[r]);
    }
    return rc ? rc : trial(bed, run->setup, &c->all);
}

static int run_events(bed_t *bed, degrade_run_t *run)
{
    const options_t *opts = bed->session.opts;
    hand_t hand;
    unsigned rail;
    if (bed->session.rank)
        return stream(bed, 0, NULL, &run->bins, run->rank);
    int rc = hand_open(&hand, opts, &run->events, &rail);
    if (rc)
        outcome_set(bed->degrade->outcome, 0, DRAIL_ENOTSUP,
                    "--events: rail %s has no cable (it is no shm rail, or has "
                    "one of its own): --on-event is needed",
                    opts->rails[rail]);
    if (!rc)
        rc = stream(bed, opts->degrade.time_ns, &hand, &run->bins, run->rank);
    else
        rc = DRAIL_ENOTSUP;
    run->planned = run->events.cuts ? run->events.cuts : run->events.count;
    run->done = hand.next;
    if (!run->events.cuts)
        run->events.count = run->done;
    hand_close(&hand);
    if (!rc && hand.failed)
        notes_add(&bed->degrade->result.notes,
                  "an event could not be carried out");
    return rc;
}

/* Interval: in whole milliseconds. */
static int run_one(bed_t *bed, degrade_run_t *run)
{
    const options_t *opts = bed->session.opts;
    bed->stream.bytes = run->bytes;
    run->events = bed->degrade->events;
    run->bins.count = (unsigned)(opts->degrade.time_ns / 1000000);
    run->bins.bytes = calloc(run->bins.count + 1, sizeof *run->bins.bytes);
    if (!run->bins.bytes)
        return DRAIL_ENOMEM;
    int rc = measure_capacity(bed, run);
    if (!rc)
        rc = session_switch(&bed->session, run->setup);
    if (!rc)
        rc = run_events(bed, run);
    if (!rc)
        rc = gather(bed, run);
    /* a run that ended early has no bins behind its end */
    uint64_t ms = run->rank[0].ns / 1000000;
    if (ms < run->bins.count)
        run->bins.count = (unsigned)ms;
    if (!rc)
        capacity_raise(&run->capacity, &run->bins, &run->events);
    return rc;
}

static int run_all(bed_t *bed)
{
    degrade_result_t *r = &bed->degrade->result;
    const options_t *opts = r->opts;
    int rc = 0;
    for (unsigned i = 0; !rc && i < opts->nsizes; i++)
        for (unsigned n = 0; !rc && n < r->plan.count; n++) {
            degrade_run_t *run = &r->runs[r->nruns++];
            run->bytes = opts->sizes[i];
            run->setup = &r->plan.setups[n];
            progress_show(&bed->progress, "railbench degrade: run %u of %u",
                          r->nruns, opts->nsizes * r->plan.count);
            rc = run_one(bed, run);
            if (!rc)
                rc = run->rank[0].code ? run->rank[0].code : run->rank[1].code;
        }
    progress_clear(&bed->progress);
    return rc;
}

/* --------------------------------------------------------------- ranks --- */

static void describe(bed_t *bed)
{
    degrade_result_t *r = &bed->degrade->result;
    r->threshold = drail_config_of(bed->session.rail)->stripe_threshold;
    for (unsigned i = 0; i < r->opts->nrails; i++)
        r->rails[i] = *drail_rail_at(bed->session.rail, i);
    notes_add_rails(&r->notes, bed->session.rail);
    if (!r->opts->degrade.on_event)
        notes_add(&r->notes, "cuts are emulated by the cables of dapl_shm(7)");
}

/* Names the worst failure in one line. */
static int judge(degrade_t *d)
{
    const degrade_result_t *r = &d->result;
    for (unsigned i = 0; i < r->nruns; i++) {
        const degrade_run_t *run = &r->runs[i];
        damage_t damage = degrade_damage(run);
        const tally_t *bad = run->rank[0].code ? &run->rank[0] : &run->rank[1];
        if (damage.duplicates || damage.losses || damage.wrong)
            outcome_set(d->outcome, 0, DRAIL_EDAT,
                        "%zu bytes: %llu lost, %llu doubled, %llu with wrong "
                        "bytes",
                        run->bytes, (unsigned long long)damage.losses,
                        (unsigned long long)damage.duplicates,
                        (unsigned long long)damage.wrong);
        else if (bad->code)
            outcome_set(d->outcome, 0, bad->code, "%zu bytes: %s", run->bytes,
                        bad->why);
        else if (run->done < run->planned)
            outcome_set(d->outcome, 0, DRAIL_ETIMEOUT,
                        "%u of %u events came in the time", run->done,
                        run->planned);
        else
            continue;
        return 1;
    }
    return 0;
}

static int lead(bed_t *bed)
{
    degrade_t *d = bed->degrade;
    describe(bed);
    int rc = run_all(bed);
    d->result.partial = rc != 0;
    if (rc == DRAIL_ENOTSUP && d->outcome->rank[0].code)
        return 1;
    int bad = judge(d);
    if (rc && !bad)
        outcome_set(d->outcome, 0, rc, "%s: %s", drail_strerror(rc),
                    drail_last_error(bed->session.rail));
    if (outputs_write(&d->outputs, degrade_report, &d->result)) {
        outcome_set(d->outcome, 0, DRAIL_EINVAL, "can't write the result: %s",
                    strerror(errno));
        return 1;
    }
    return rc || bad;
}

static int rank_main(drail_job_t *job, void *arg)
{
    bed_t bed = {.degrade = arg};
    const options_t *opts = bed.degrade->result.opts;
    drail_error_t err = {0};
    size_t longest = 0;
    int status = 1;

    progress_init(&bed.progress);
    bed.progress.on &= drail_job_rank(job) == 0;
    for (unsigned i = 0; i < opts->nsizes; i++)
        longest = opts->sizes[i] > longest ? opts->sizes[i] : longest;
    int rc = session_open(&bed.session, job, opts, &err);
    if (!rc) {
        rc = stream_open(&bed.stream, &bed.session, longest,
                         (unsigned)opts->degrade.window, bed.degrade->seed);
        snprintf(err.text, sizeof err.text, "%s",
                 drail_last_error(bed.session.rail));
    }
    if (rc)
        outcome_set(bed.degrade->outcome, drail_job_rank(job), rc, "%s",
                    err.text);
    else
        status = bed.session.rank ? run_all(&bed) != 0 : lead(&bed);
    stream_close(&bed.stream);
    session_close(&bed.session);
    return status;
}

/* ---------------------------------------------------------------- test --- */

static int check_options(degrade_t *d)
{
    const options_t *opts = d->result.opts;
    char allowed[512], number[32];
    const char *events = opts->degrade.events;
    snprintf(number, sizeof number, "%llu", (unsigned long long)opts->ranks);
    if (opts->simulated) {
        snprintf(allowed, sizeof allowed, "sim:%s", opts->simulated);
        option_wrong(&d->test->table, "--rails", allowed,
                     "rails that can be cut or slowed, which simulated ones "
                     "can't");
        return -1;
    }
    if (opts->ranks != 2) {
        option_wrong(&d->test->table, "--ranks", number, "2");
        return -1;
    }
    snprintf(number, sizeof number, "%llu", (unsigned long long)opts->ppn);
    if (opts->ppn > 2) {
        option_wrong(&d->test->table, "--ppn", number, "1 or 2");
        return -1;
    }
    if (!events_parse(&d->events, events, opts, allowed, sizeof allowed))
        return 0;
    option_wrong(&d->test->table, "--events", events, allowed);
    return -1;
}

static void free_result(degrade_result_t *r)
{
    for (unsigned i = 0; r->runs && i < r->opts->nsizes * r->plan.count; i++)
        free(r->runs[i].bins.bytes);
    free(r->runs);
}

static int degrade_main(const bench_test_t *test, const options_t *opts)
{
    degrade_t *d = calloc(1, sizeof *d);
    int status = 2;
    if (!d)
        return 1;
    d->test = test;
    d->result.opts = opts;
    if (check_options(d) ||
        outputs_open(&d->outputs, opts, test->table.command))
        goto out;
    status = 1;
    plan_make(&d->result.plan, opts);
    machine_describe(&d->result.machine, NULL);
    d->seed = content_seed();
    d->result.runs =
        calloc(opts->nsizes * d->result.plan.count, sizeof *d->result.runs);
    d->outcome = outcome_create((unsigned)opts->ranks);
    if (!d->outcome || !d->result.runs || hand_cables_make(opts)) {
        fprintf(stderr, "%s: %s\n", test->table.command, strerror(errno));
        goto out;
    }
    status = launch_job(test->table.command, opts, d->outcome, rank_main, d);
out:
    hand_cables_remove();
    free_result(&d->result);
    if (d->outcome)
        outcome_destroy(d->outcome);
    outputs_discard(&d->outputs);
    free(d);
    return status;
}

/* Unless the user names some: memory carries as much over one as over two. */
static void slow_rails(options_t *opts)
{
    static const char *const names[] = {"gbe-a0", "gbe-a1"};
    if (getenv("DRAIL_RAILS"))
        return;
    for (opts->nrails = 0; opts->nrails < 2; opts->nrails++)
        snprintf(opts->rails[opts->nrails], DRAIL_NAME_MAX, "%s",
                 names[opts->nrails]);
}

static void defaults(options_t *opts)
{
    options_one_engine(opts);
    slow_rails(opts);
    opts->policies[0] = DRAIL_POLICY_ADAPTIVE;
    opts->degrade = (struct degrade_options){
        .time_ns = 8 * (uint64_t)SECOND_NS, .interval_ms = 20, .window = 8};
}

static int parse_time(const option_row_t *row, const char *text, void *field,
                      char *allowed, size_t size)
{
    uint64_t ns;
    (void)row;
    snprintf(allowed, size, "a time from 100ms to 1000s");
    if (event_time_parse(text, &ns) || ns < SECOND_NS / 10 ||
        ns > 1000 * (uint64_t)SECOND_NS)
        return -1;
    *(uint64_t *)field = ns;
    return 0;
}

/* Checked when the rails are known. */
static int parse_words(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    (void)row;
    snprintf(allowed, size, "words");
    *(const char **)field = text;
    return *text ? 0 : -1;
}

#define AT(member) offsetof(options_t, degrade.member)

static const option_row_t rows[] = {
    {"--time", "T", "of each run, in s or ms (default 8s)", .parse = parse_time,
     .field = AT(time_ns)},
    {"--interval", "MS", "over which rates are taken (default 20)",
     .parse = option_parse_count, .field = AT(interval_ms), .min = 1,
     .max = 1000},
    {"--window", "N", "messages that are under way (default 8)",
     .parse = option_parse_count, .field = AT(window), .min = 1, .max = 1024},
    {"--events", "E",
     "a list of TIME:cut:RAIL, TIME:back:RAIL, TIME:slow:RAIL:FACTOR; "
     "random:CUTS[:SEED]; none (default: cut and back of rail 1, half of the "
     "rate of rail 0)",
     .parse = parse_words, .field = AT(events)},
    {"--on-event", "CMD",
     "carries out events: called with cut, back or slow, the rail, and the "
     "factor (default: cables of shm rails)",
     .parse = parse_words, .field = AT(on_event)},
};

const bench_test_t test_degrade = {
    .table = {.command = "railbench degrade",
              .summary = "A stream of checked messages while rails are cut, "
                         "slowed and given back: dips, recovery, losses.",
              .groups = OPTIONS_RAILS | OPTIONS_SIZES,
              .rows = rows,
              .nrows = sizeof rows / sizeof *rows},
    .name = "degrade",
    .sizes = "1M",
    .defaults = defaults,
    .run = degrade_main,
};
