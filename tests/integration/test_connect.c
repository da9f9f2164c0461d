/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting: settings that must agree are compared, what failed can be tried
 * again, and many peers fit.
 */
#include "ranks.h"

/* A transport of the rank's own configuration instead of the frame's. */
static void reopen(struct rank *r, const drail_config_t *cfg)
{
    drail_error_t err = {0};
    drail_close(r->t);
    int rc = drail_open(r->job, cfg, &r->t, &err);
    if (rc)
        printf("# rank %u: drail_open: %s\n", r->rank, err.text);
    check(rc == 0);
}

static void config(drail_config_t *cfg)
{
    drail_config_init(cfg);
    take_rails(cfg, 2);
    cfg->connect_timeout_ms = 3000;
}

/* Refused to all ranks, in a sentence with the setting and both values: rank
 * 2's is another. */
static void refused(struct rank *r, const drail_config_t *cfg, const char *says)
{
    drail_error_t err = {0};
    drail_t *t = NULL;
    check(drail_open(r->job, cfg, &t, &err) == DRAIL_EINVAL && !t);
    if (strcmp(err.text, says))
        printf("# rank %u: %s\n", r->rank, err.text);
    check(err.code == DRAIL_EINVAL && !strcmp(err.text, says));
    barrier(r);
}

static void depth(struct rank *r)
{
    drail_config_t cfg;
    config(&cfg);
    cfg.depth = r->rank == 2 ? 60 : 20;
    refused(r, &cfg, "DRAIL_DEPTH is 20 in rank 0 and 60 in rank 2");
}

/* slots of the same size all the same */
static void eager_bytes(struct rank *r)
{
    drail_config_t cfg;
    config(&cfg);
    cfg.eager_bytes = r->rank == 2 ? 33 : 34;
    refused(r, &cfg, "DRAIL_EAGER_BYTES is 34 in rank 0 and 33 in rank 2");
}

static void extensions(struct rank *r)
{
    drail_config_t cfg;
    setenv("DRAIL_EXTENSIONS", r->rank == 2 ? "0" : "1", 1);
    config(&cfg);
    refused(r, &cfg, "DRAIL_EXTENSIONS is 1 in rank 0 and 0 in rank 2");
}

static void eps(struct rank *r)
{
    drail_config_t cfg;
    config(&cfg);
    cfg.eps = r->rank == 2 ? 3 : 2;
    refused(r, &cfg, "DRAIL_EPS is 2 in rank 0 and 3 in rank 2");
}

static void talk(struct rank *r, unsigned peer, uint32_t n)
{
    uint32_t id;
    expect(r, 0, drail_notify(r->t, peer, DRAIL_ALL_RAILS, n + r->rank));
    expect(r, 0, drail_notify_wait(r->t, peer, &id, -1));
    check(id == n + peer);
}

/* A rank that came too early tries again. */
static void again(struct rank *r)
{
    drail_config_t cfg;
    config(&cfg);
    cfg.connect_timeout_ms = 1000;
    for (unsigned early = 0; early < 2; early++) {
        reopen(r, &cfg);
        if (r->rank == early)
            expect(r, DRAIL_ETIMEOUT, drail_connect(r->t, r->peer));
        barrier_outside(r);
        expect(r, 0, drail_connect(r->t, r->peer));
        talk(r, r->peer, 100);
        barrier(r);
    }
}

/* A message of another peer is not lost when a connect fails. */
static void beside(struct rank *r)
{
    drail_config_t cfg;
    config(&cfg);
    cfg.connect_timeout_ms = 1000;
    reopen(r, &cfg);
    if (r->rank < 2)
        expect(r, 0, drail_connect(r->t, 1 - r->rank));
    for (unsigned n = 0; n < 30; n++) {
        if (r->rank == 1)
            expect(r, 0, drail_notify(r->t, 0, DRAIL_ALL_RAILS, n));
        barrier_outside(r);
    }
    if (r->rank == 0) {
        uint32_t id;
        for (unsigned n = 0; n < 2; n++)
            expect(r, DRAIL_ETIMEOUT, drail_connect(r->t, 2));
        for (unsigned n = 0; n < 30; n++) {
            expect(r, 0, drail_notify_wait(r->t, 1, &id, -1));
            check(id == n);
        }
    }
    barrier_outside(r);
    if (r->rank != 1)
        expect(r, 0, drail_connect(r->t, 2 - r->rank));
    barrier(r);
}

/* Messages under way to all peers exceed what an event queue holds: there are
 * fewer of them. */
static void many(struct rank *r)
{
    drail_config_t cfg;
    config(&cfg);
    cfg.depth = 4000;
    cfg.eager_bytes = 0;
    cfg.nrails = 1;
    reopen(r, &cfg);
    unsigned got = drail_config_of(r->t)->depth;
    check(got >= 4 && got < 4000);
    for (unsigned p = 0; p < r->size; p++)
        if (p != r->rank && (p == 0 || r->rank == 0))
            expect(r, 0, drail_connect(r->t, p));
    for (unsigned p = 0; p < r->size; p++)
        if (p != r->rank && (p == 0 || r->rank == 0))
            talk(r, p, 7);
    barrier(r);
}

static const struct test tests[] = {
    {"unequal depth", 3, depth, NULL, APART},
    {"unequal eager_bytes", 3, eager_bytes, NULL, APART},
    {"unequal extensions", 3, extensions, NULL, APART},
    {"unequal eps", 3, eps, NULL, APART},
    {"connect again", 2, again, NULL, APART},
    {"beside another peer", 3, beside, NULL, APART},
    {"many peers, long queues", 10, many, NULL, APART},
};

RUN_TESTS(tests)
