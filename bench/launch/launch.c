/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench/clock.h"
#include "agreement.h"
#include "launch.h"
#include "rivals.h"

#define STACK_LEAST (512u << 10) /* bytes */

static void configure(drail_job_config_t *cfg, const options_t *opts,
                      drail_error_t *err)
{
    drail_job_config_init(cfg);
    if (opts->ranks)
        cfg->nranks = (unsigned)opts->ranks;
    if (opts->rank != RANK_DEFAULT)
        cfg->rank = (unsigned)opts->rank;
    cfg->ppn = opts->by_host ? 0 : (unsigned)options_ppn(opts);
    cfg->rendezvous = opts->rendezvous;
    cfg->secret_file = opts->secret;
    cfg->connect_ms = (int)(opts->connect_time * 1000);
    cfg->simulate = opts->simulated;
    cfg->hollow = opts->no_payload;
    cfg->fork = opts->fork;
    cfg->launch = opts->launch;
    cfg->error = err;
}

/* ------------------------------------------------- how we were started --- */

static unsigned ranks_on(const drail_launch_t *l, unsigned host, unsigned most)
{
    unsigned count = 0;
    for (unsigned r = 0; r < most; r++)
        count += drail_launch_host(l, r) == host;
    return count;
}

/* Finds the ranks of this process's host. Nodes are hosts, unless options say
 * otherwise. */
static void find_places(options_t *opts)
{
    const drail_launch_t *l = opts->launch;
    unsigned rank = drail_launch_rank(l), size = drail_launch_size(l);
    unsigned host = drail_launch_host(l, rank);
    opts->local = ranks_on(l, host, rank);
    opts->locals = ranks_on(l, host, size);
    if (sched_getaffinity(0, sizeof opts->allowed, &opts->allowed))
        CPU_ZERO(&opts->allowed);
    if (opts->ppn)
        return;
    opts->by_host = true;
    for (unsigned r = 0; r < size; r++) {
        unsigned ranks = ranks_on(l, drail_launch_host(l, r), size);
        opts->ppn = ranks > opts->ppn ? ranks : opts->ppn;
    }
}

/* Are the first messages a contest of the ways to send the others? */
static bool learns(const options_t *opts)
{
    bool any = false;
    for (unsigned i = 0; i < opts->npolicies; i++)
        any |= opts->policies[i] == DRAIL_POLICY_ADAPTIVE;
    for (unsigned i = 0; i < opts->nengines; i++)
        any |= opts->engines[i] == DRAIL_ENGINE_AUTO;
    return any;
}

/* All nodes of the cluster, or as many as a run has time for; but two, if there
 * are, so that there is something between them. */
static uint64_t cluster_ranks(const options_t *opts)
{
    uint64_t nodes = opts->cluster.nodes, some = SIMULATED_RANKS / opts->ppn;
    if (some < 2)
        some = 2;
    return opts->ppn * (some < nodes ? some : nodes);
}

/* Sets options that were not given. Figures that are the same in every run need
 * few iterations: enough to go on in step. */
static void complete_simulated(options_t *opts, const option_table_t *table)
{
    bool pair = !(table->groups & OPTIONS_SHAPE);
    if (!opts->ppn) /* a pair is one of two nodes */
        opts->ppn = pair ? 1 : opts->cluster.ppn;
    if (!opts->ranks)
        opts->ranks = pair ? RANKS_DEFAULT : cluster_ranks(opts);
    if (!opts->iterations)
        opts->iterations = SIMULATED_ITERATIONS;
    if (opts->warmup == WARMUP_DEFAULT && !learns(opts))
        opts->warmup = SIMULATED_WARMUP;
    opts->no_pin = true; /* actors are no threads of this machine */
}

/* The measuring functions have large frames, and threads of OpenMP get what the
 * program has. */
static int check_stack(const option_table_t *table)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= STACK_LEAST)
        return 0;
    fprintf(stderr,
            "%s: the stack is limited to %llu KiB (ulimit -s); needed are "
            "%u KiB\n",
            table->command, (unsigned long long)stack.rlim_cur >> 10,
            STACK_LEAST >> 10);
    return 1;
}

void launch_settle(options_t *opts, const option_table_t *table)
{
    if (opts->launch && drail_launch_size(opts->launch)) {
        opts->ranks = drail_launch_size(opts->launch);
        opts->follows = drail_launch_rank(opts->launch) > 0;
        find_places(opts);
    } else if (opts->simulated) {
        complete_simulated(opts, table);
    } else if (!opts->ranks) {
        opts->ranks = RANKS_DEFAULT;
    }
}

int launch_open(options_t *opts, const option_table_t *table)
{
    drail_job_config_t cfg;
    drail_error_t err = {0};
    int rc = 0;
    if (check_stack(table))
        return 1;
    if (table->groups & OPTIONS_RAILS && !opts->simulated) {
        configure(&cfg, opts, &err);
        rc = drail_launch_open(&cfg, &opts->launch);
    }
    if (rc) {
        bool other = rc == DRAIL_EACCESS, late = rc == DRAIL_ETIMEOUT;
        fprintf(stderr, "%s: %s%s%s\n", table->command,
                opts->code && other ? "--code is not this server's: " : "",
                err.text[0] ? err.text : drail_strerror(rc),
                opts->code && late ? "; does its --server wait there? A code "
                                     "serves once"
                                   : "");
        return rc == DRAIL_EINVAL || other ? 2 : 1;
    }
    if (opts->server || opts->code) /* not for commands of --on-event */
        unsetenv("DRAIL_SECRET");
    launch_settle(opts, table);
    return 0;
}

void launch_close(options_t *opts)
{
    drail_launch_close(opts->launch);
    opts->launch = NULL;
}

/* ------------------------------------------------------------- the job --- */

/* The error of a rank that was only told that the job is over. */
static bool second_hand(const drail_error_t *error)
{
    return !error || error->code == DRAIL_EPEER || error->code == DRAIL_EINTR;
}

struct rank {
    drail_rank_main_t main;
    void *arg;
    const options_t *opts;
    const char *command;
    const char *differs; /* an option of launched ranks; NULL: none does */
    unsigned other;      /* ... of this rank */
};

static int in_virtual_time(drail_job_t *job, void *arg)
{
    const struct rank *rank = arg;
    clock_elsewhere = drail_job_platform(job);
    return rank->main(job, rank->arg);
}

static int on_this_machine(drail_job_t *job, void *arg)
{
    struct rank *rank = arg;
    rivals_t rivals;
    int rc = rank->opts->locals
                 ? agreement_find(job, rank->opts, &rank->differs, &rank->other)
                 : 0;
    if (rc || rank->differs)
        return 1;
    int status = 1;
    if (!rivals_open(&rivals, job, rank->opts)) {
        rivals_look(&rivals);
        status = rank->main(job, rank->arg);
        rivals_look(&rivals);                     /* for one that came later */
        if (!status && !rank->opts->series.index) /* once for all of them */
            rivals_warn(&rivals, rank->command);
    }
    rivals_close(&rivals);
    return status;
}

int launch_exchange(const options_t *opts, drail_error_t *error,
                    drail_rank_main_t rank_main, void *arg)
{
    drail_job_config_t cfg;
    configure(&cfg, opts, error);
    return drail_job_run(&cfg, rank_main, arg);
}

int launch_job(const char *command, const options_t *opts, outcome_t *outcome,
               drail_rank_main_t rank_main, void *arg)
{
    drail_job_config_t cfg;
    drail_error_t err = {0};
    struct rank rank = {
        .main = rank_main, .arg = arg, .opts = opts, .command = command};

    configure(&cfg, opts, &err);
    int rc = drail_job_run(
        &cfg, opts->simulated ? in_virtual_time : on_this_machine, &rank);
    if (!rc)
        return 0;
    if (rank.differs) {
        if (!opts->follows)
            fprintf(stderr,
                    "%s: %s: rank %u has another one than rank 0; allowed: the "
                    "same for all ranks\n",
                    command, rank.differs, rank.other);
        return 2;
    }
    /* rank 0 tells of the others, unless it is gone */
    const drail_error_t *cause = outcome_cause(outcome);
    if (opts->follows && rc != DRAIL_EPEER &&
        (second_hand(cause) || rc == DRAIL_EINTR))
        return 1;
    if (rc == DRAIL_EINTR) {
        fprintf(stderr, "%s: interrupted; the result is partial\n", command);
        return 1;
    }
    const char *text = cause ? cause->text : err.text;
    if (!text[0])
        text = drail_strerror(cause ? cause->code : rc);
    if (cause && (cause->code == DRAIL_EOPEN || cause->code == DRAIL_ENORAIL)) {
        fprintf(stderr, "%s: --rails: %s; allowed: rails that railinfo lists\n",
                command, text);
        return 2;
    }
    if (opts->simulated && !cause && rc == DRAIL_EINVAL) {
        fprintf(stderr, "%s: --rails: %s\n", command, text);
        return 2;
    }
    /* what has happened to another rank may explain what this one saw */
    bool both = opts->locals && cause && err.text[0];
    fprintf(stderr, "%s: %s%s%s\n", command, text, both ? "; " : "",
            both ? err.text : "");
    return 1;
}

int launch_alone(const char *command, const options_t *opts,
                 outcome_t **outcome, drail_rank_main_t rank_main, void *arg)
{
    *outcome = outcome_create((unsigned)opts->ranks);
    if (!*outcome) {
        fprintf(stderr, "%s: out of memory\n", command);
        return 1;
    }
    int status = launch_job(command, opts, *outcome, rank_main, arg);
    outcome_destroy(*outcome);
    return status;
}
