/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "launch.h"

static void configure(drail_job_config_t *cfg, const options_t *opts,
                      drail_error_t *err)
{
    drail_job_config_init(cfg);
    if (opts->ranks)
        cfg->nranks = (unsigned)opts->ranks;
    if (opts->rank != RANK_DEFAULT)
        cfg->rank = (unsigned)opts->rank;
    cfg->ppn = (unsigned)opts->ppn;
    cfg->rendezvous = opts->rendezvous;
    cfg->connect_ms = (int)(opts->connect_time * 1000);
    cfg->fork = opts->fork;
    cfg->launch = opts->launch;
    cfg->error = err;
}

/* ------------------------------------------------- how we were started --- */

/* Who else is on this process's host? */
static void find_locals(options_t *opts)
{
    const drail_launch_t *l = opts->launch;
    unsigned rank = drail_launch_rank(l), host = drail_launch_host(l, rank);
    for (unsigned r = 0; r < drail_launch_size(l); r++) {
        if (drail_launch_host(l, r) != host)
            continue;
        opts->local += r < rank;
        opts->locals++;
    }
}

/* Nodes are hosts, if those have blocks of ranks. */
static int find_ppn(options_t *opts, const option_table_t *table)
{
    const drail_launch_t *l = opts->launch;
    unsigned size = drail_launch_size(l), ppn = 1, r = 0;
    if (opts->ppn)
        return 0;
    while (ppn < size && drail_launch_host(l, ppn) == 0)
        ppn++;
    while (r < size && drail_launch_host(l, r) == r / ppn)
        r++;
    opts->ppn = ppn;
    if (r == size)
        return 0;
    if (!opts->follows)
        fprintf(stderr,
                "%s: --ppn: '' is wrong; allowed: a number, as the launched "
                "ranks are not in equal blocks on their hosts\n",
                table->command);
    return 2;
}

int launch_open(options_t *opts, const option_table_t *table)
{
    drail_job_config_t cfg;
    drail_error_t err = {0};
    int rc = 0;
    if (table->groups & OPTIONS_RAILS) {
        configure(&cfg, opts, &err);
        rc = drail_launch_open(&cfg, &opts->launch);
    }
    if (rc) {
        fprintf(stderr, "%s: %s\n", table->command,
                err.text[0] ? err.text : drail_strerror(rc));
        return rc == DRAIL_EINVAL ? 2 : 1;
    }
    if (opts->launch && drail_launch_size(opts->launch)) {
        opts->ranks = drail_launch_size(opts->launch);
        opts->follows = drail_launch_rank(opts->launch) > 0;
        find_locals(opts);
        return find_ppn(opts, table);
    }
    if (!opts->ranks)
        opts->ranks = RANKS_DEFAULT;
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

int launch_job(const char *command, const options_t *opts, outcome_t *outcome,
               drail_rank_main_t rank_main, void *arg)
{
    drail_job_config_t cfg;
    drail_error_t err = {0};

    configure(&cfg, opts, &err);
    int rc = drail_job_run(&cfg, rank_main, arg);
    if (!rc)
        return 0;
    /* rank 0 tells of the others, unless it is gone */
    const drail_error_t *cause = outcome_cause(outcome);
    if (opts->follows && rc != DRAIL_EPEER && second_hand(cause))
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
    /* what has happened to another rank may explain what this one saw */
    bool both = opts->locals && cause && second_hand(cause) && err.text[0];
    fprintf(stderr, "%s: %s%s%s\n", command, text, both ? "; " : "",
            both ? err.text : "");
    return 1;
}
