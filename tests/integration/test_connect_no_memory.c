/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that has no memory to connect tells the rank that waits for it, which
 * need not wait until its time is out. This program's calloc() refuses;
 * sanitizers replace calloc(), so there it does not.
 */
#include "ranks.h"
#include "refuse.h"

enum { RANKS = 2 };

/* The first allocation is a struct peer for a later peer. */
#define SPARE 1

struct outcome {
    int rc;
    bool refused; /* else there were fewer calls */
};

static void reopen(struct rank *r)
{
    drail_config_t cfg;
    drail_error_t err = {0};
    drail_config_init(&cfg);
    take_rails(&cfg, 2);
    cfg.connect_timeout_ms = 20000;
    drail_close(r->t);
    check(drail_open(r->job, &cfg, &r->t, &err) == 0);
    barrier(r);
}

static struct outcome try(struct rank *r, unsigned nth)
{
    refuse(nth, "libdapl_rail.");
    double begin = seconds();
    int rc = drail_connect(r->t, r->peer);
    struct outcome mine = {rc, nth && !refuse_at};
    refuse(0, NULL);
    check(seconds() - begin < 1);
    return mine;
}

/* After its failure the rank makes no calls until the other one knows. */
static void refused_to(struct rank *r, unsigned whom)
{
    struct outcome all[RANKS] = {{0}};
    int told = 0;
    for (unsigned nth = SPARE; nth == SPARE || all[whom].refused; nth++) {
        reopen(r);
        struct outcome mine = try(r, r->rank == whom ? nth : 0);
        barrier_outside(r);
        if (mine.rc && r->rank != whom) {
            check(mine.rc == DRAIL_EPEER);
            told += strstr(drail_last_error(r->t), "no resources") != NULL;
        }
        check(drail_job_allgather(r->job, &mine, sizeof mine, all, -1) == 0);
        check(!mine.refused || mine.rc == (nth == SPARE ? 0 : DRAIL_ENOMEM));
    }
    check(!REFUSALS || r->rank == whom || whom || told);
}

static void lower(struct rank *r)
{
    refused_to(r, 0);
}

static void higher(struct rank *r)
{
    refused_to(r, 1);
}

static const struct test tests[] = {
    {"no memory in the lower rank", RANKS, lower, NULL, APART},
    {"no memory in the higher rank", RANKS, higher, NULL, APART},
};

RUN_TESTS(tests)
