/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that has no memory to open its transport: all ranks hear of it at
 * once, none has one, and the job is as good as before. This program's calloc()
 * refuses the library's own calls (hwloc ends the process); the sanitizers have
 * theirs, so there it does not.
 */
#include "ranks.h"
#include "refuse.h"

enum { RANKS = 3 };

struct outcome {
    int rc;
    bool refused; /* else there were fewer calls */
};

static struct outcome reopen(struct rank *r, unsigned nth)
{
    drail_config_t cfg;
    drail_error_t err = {0};
    drail_config_init(&cfg);
    cfg.timeout_ms = 5000;
    r->t = NULL;
    refuse(nth, "libdapl_rail.");
    int rc = drail_open(r->job, &cfg, &r->t, &err);
    struct outcome mine = {rc, nth && !refuse_at};
    refuse(0, NULL);
    check(!rc == (r->t != NULL) && err.code == rc);
    check(rc != DRAIL_ETIMEOUT);
    return mine;
}

static void refused_to(struct rank *r, unsigned whom)
{
    struct outcome all[RANKS] = {{0}};
    int failed = 0;
    for (unsigned nth = 1; nth == 1 || all[whom].refused; nth++) {
        struct outcome mine = reopen(r, r->rank == whom ? nth : 0);
        check(drail_job_allgather(r->job, &mine, sizeof mine, all, -1) == 0);
        for (unsigned i = 0; i < RANKS; i++)
            check(!all[i].rc == !mine.rc);
        failed += mine.rc != 0;
        drail_close(r->t);
    }
    check(failed >= REFUSALS);
}

static void no_memory(struct rank *r)
{
    drail_close(r->t);
    refused_to(r, 0);
    refused_to(r, 1);
    reopen(r, 0);
}

static const struct test tests[] = {
    {"no memory for a transport", RANKS, no_memory, NULL, APART},
};

RUN_TESTS(tests)
