/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer that a rank waits for to connect has ended: that is told at once,
 * not when the time for connecting is over. */
#include "ranks.h"

enum { GONE, LATER, RANKS };

/* The rank of lower number asks; the other one has but to wait. */
static void one_has_ended(struct rank *r)
{
    if (r->rank == GONE)
        _exit(0); /* without a word to anybody */
    expect(r, DRAIL_EPEER, drail_connect(r->t, GONE));
    printf("# %s\n", drail_last_error(r->t));
    drail_close(r->t);
    _exit(0);
}

/* Another one asks for nothing, but lives: that takes its time. */
static void one_is_late(struct rank *r)
{
    if (r->rank == LATER)
        expect(r, DRAIL_ETIMEOUT, drail_connect(r->t, GONE));
    barrier_outside(r);
}

static void impatient(drail_config_t *cfg)
{
    cfg->connect_timeout_ms = 500;
}

static const struct test tests[] = {
    {"a rank that has ended", RANKS, one_has_ended, NULL, APART},
    {"a rank that does not come", RANKS, one_is_late, impatient, APART},
};

RUN_TESTS(tests)
