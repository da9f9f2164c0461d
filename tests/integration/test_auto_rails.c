/* SPDX-License-Identifier: BSD-3-Clause */
/* Engine auto over rails whose link model decides which of them pay. */
#include "conf.h"
#include "explain.h"
#include "memory.h"
#include "ranks.h"

#define CAPACITY (1u << 20)
#define SHORT    (16u << 10)
#define TRIES    3

static const char rails[] = RAIL("near0", "rate=270 latency=2")
    RAIL("near1", "rate=270 latency=2") RAIL("far", "rate=270 latency=2000");

/* Policies that cut nothing leave nothing to choose. */
static void puts_in_turn(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_ROUNDROBIN, NULL, 0));
        for (unsigned n = 0; n < 100; n++)
            memory_put(r, &b, SHORT);
        check(rail_stats(r, 0).puts == 50 && rail_stats(r, 1).puts == 50);
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_FIXED, NULL, 1));
        for (unsigned n = 0; n < 50; n++)
            memory_put(r, &b, SHORT);
        check(rail_stats(r, 0).puts == 50 && rail_stats(r, 1).puts == 100);
    }
    memory_close(r, &b);
}

/* Of gets it learns apart from puts. */
static void gets(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        for (unsigned n = 0; n < 100; n++)
            memory_get(r, &b, SHORT);
        uint64_t before = rail_stats(r, 1).gets;
        for (unsigned n = 0; n < 100; n++)
            memory_get(r, &b, SHORT);
        check(rail_stats(r, 1).gets - before < 30);
        check(says(r, SHORT, "single not yet"));
    }
    memory_close(r, &b);
}

/* A kind of messages that is rare learns all the same, though most of those
 * between them are not timed. */
static void rare_ones(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    for (unsigned n = 0; r->rank == 0 && n < 40 * 100; n++)
        memory_put(r, &b, n % 100 ? SHORT : 2 * SHORT);
    if (r->rank == 0) {
        check(says(r, SHORT, "all over near0 (striping does not pay"));
        check(says(r, 2 * SHORT, "all over near0 (striping does not pay"));
    }
    memory_close(r, &b);
}

/* Many under way, of two sizes, over rails that both pay. */
static void window(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    for (unsigned n = 0; r->rank == 0 && n < 2000; n++) {
        drail_xfer_t x = memory_xfer(r, &b, n % 2 ? SHORT : 4 * SHORT);
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, NULL));
        if (n % 40 == 39)
            expect(r, 0, drail_fence(r->t, 1));
    }
    if (r->rank == 0) {
        check(!strstr(explained(r, 4 * SHORT), "not yet"));
        check(!strstr(explained(r, SHORT), "not yet"));
        check(rail_stats(r, 0).put_bytes > 10u << 20);
        check(rail_stats(r, 1).put_bytes > 10u << 20);
    }
    memory_close(r, &b);
}

static void two(drail_config_t *cfg, const char *first, const char *second)
{
    use_rails(cfg, first, second);
    cfg->engine = DRAIL_ENGINE_AUTO;
    cfg->policy = DRAIL_POLICY_EVEN;
}

static void near_near(drail_config_t *cfg)
{
    two(cfg, "near0", "near1");
}

static void near_far(drail_config_t *cfg)
{
    two(cfg, "near0", "far");
}

static const struct test tests[] = {
    {"policies that do not cut", 2, puts_in_turn, near_near, 0},
    {"gets", 2, gets, near_far, 0},
    {"rare ones", 2, rare_ones, near_far, 0},
    {"many messages under way", 2, window, near_near, 0},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), TRIES, tests)
