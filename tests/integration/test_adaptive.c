/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails with a link model: slow ones, so that nothing but the model decides.
 * The adaptive policy: shares are compared, not times.
 */
#include <math.h>

#include "conf.h"
#include "memory.h"

#define CAPACITY (2u << 20)
#define TRIES    3

static const char rails[] =
    RAIL("fast", "rate=270 latency=2") RAIL("slow", "rate=135 latency=2")
        RAIL("sinking", "rate=270 latency=2 change_after=60M change_rate=90")
            RAIL("far", "rate=270 latency=1000")
                RAIL("bus0", "rate=270 latency=2 bus=b bus_rate=270")
                    RAIL("bus1", "rate=270 latency=300 bus=b bus_rate=270");

static double share(const struct rank *r, unsigned rail)
{
    return rail_stats(r, rail).weight;
}

static uint64_t puts_over(const struct rank *r, unsigned rail)
{
    return rail_stats(r, rail).puts;
}

static bool carried(const struct rank *r, unsigned rail, uint64_t bytes)
{
    return rail_stats(r, rail).put_bytes >= bytes;
}

/* Does the explanation say this? It must not change anything. */
static bool explained(struct rank *r, size_t bytes, const char *text)
{
    char first[1024], second[1024];
    drail_explain(r->t, bytes, first, sizeof first);
    drail_explain(r->t, bytes, second, sizeof second);
    check(!strcmp(first, second));
    if (strstr(first, text))
        return true;
    printf("# no '%s' in: %s\n", text, first);
    return false;
}

static void near(double got, double want)
{
    if (fabs(got - want) > 0.04)
        printf("# share %.3f, not %.3f\n", got, want);
    check(fabs(got - want) <= 0.04);
}

/* Shares follow the rates, also when one changes: within 20 messages. */
static void change_of_rate(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        check(explained(r, 256 << 10, "not measured yet"));
        unsigned n = 0;
        for (; !carried(r, 0, 50u << 20); n++)
            memory_put(r, &b, 256 << 10);
        near(share(r, 1), 1.0 / 3); /* 270 and 135 */
        check(explained(r, 256 << 10, "slow "));
        for (; !carried(r, 0, 60u << 20); n++)
            memory_put(r, &b, 256 << 10);
        for (unsigned i = 0; i < 20; i++)
            memory_put(r, &b, 256 << 10);
        near(share(r, 1), 0.6); /* 90 and 135 */
    }
    memory_close(r, &b);
}

/* At this size the second rail must be left out, and hardly be tried. */
static void settles_on_first(struct rank *r, const struct memory *b,
                             size_t bytes, const char *why)
{
    unsigned n;
    for (n = 0; n < 400; n++)
        memory_put(r, b, bytes);
    uint64_t before = puts_over(r, 1);
    for (n = 0; n < 400; n++)
        memory_put(r, b, bytes);
    check(puts_over(r, 1) - before < 60);
    check(share(r, 0) > 0.999);
    check(explained(r, bytes, why));
}

/* Puts until other rails are tried: the usual ones are named all the same. */
static void trial_tells_the_usual(struct rank *r, const struct memory *b,
                                  size_t bytes, const char *usual)
{
    char text[1024] = "";
    for (unsigned n = 0; n < 5000 && !strstr(text, "; a trial"); n++) {
        memory_put(r, b, bytes);
        drail_explain(r->t, bytes, text, sizeof text);
    }
    check(explained(r, bytes, usual));
}

static void far_adapter(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        settles_on_first(r, &b, 16 << 10, "far left out: with it ");
        /* long messages are worth the way */
        for (unsigned n = 0; n < 60; n++)
            memory_put(r, &b, CAPACITY);
        check(share(r, 1) > 0.2);
        /* and short ones still know */
        check(explained(r, 8, "all over fast"));
        check(explained(r, 16 << 10, "far left out: with it "));
    }
    memory_close(r, &b);
}

static void shared_bus(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        trial_tells_the_usual(r, &b, 64 << 10, "usually over bus0+bus1, with ");
        settles_on_first(r, &b, 64 << 10, "bus1 left out: with it ");
        trial_tells_the_usual(r, &b, 64 << 10, "usually over bus0, with ");
    }
    memory_close(r, &b);
}

/* Many under way, over rails that both pay. */
static void window(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    if (r->rank == 0) {
        drail_xfer_t xfer = {.local = b.bytes,
                             .local_mem = b.mem,
                             .remote = &b.keys[1],
                             .bytes = 64 << 10};
        for (unsigned n = 0; n < 600; n++) {
            expect(r, 0, drail_put(r->t, 1, &xfer, 0, 0, NULL));
            if (n % 40 == 39)
                expect(r, 0, drail_fence(r->t, 1));
        }
        check(share(r, 0) > 0.5 && share(r, 1) > 0.2);
    }
    memory_close(r, &b);
}

/* A request may go while its transfer is under way, which a far adapter takes
 * long for. */
static void forgotten(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, CAPACITY);
    for (unsigned round = 0; r->rank == 0 && round < 20; round++) {
        drail_req_t *req = malloc(sizeof *req);
        drail_xfer_t xfer = {.local = b.bytes,
                             .local_mem = b.mem,
                             .remote = &b.keys[1],
                             .bytes = 4096};
        check(req != NULL);
        memset(b.bytes, (int)round, 4096);
        expect(r, 0, drail_put(r->t, 1, &xfer, 0, 0, req));
        expect(r, DRAIL_EAGAIN, drail_test(r->t, req));
        drail_forget(r->t, req);
        expect(r, 0, drail_test(r->t, req)); /* it awaits nothing any more */
        free(req);
        expect(r, 0, drail_fence(r->t, 1));
    }
    barrier(r);
    for (unsigned i = 0; r->rank == 1 && i < 4096; i++)
        check(b.bytes[i] == 19);
    memory_close(r, &b);
}

static void adaptive(drail_config_t *cfg, const char *first, const char *second)
{
    use_rails(cfg, first, second);
    cfg->policy = DRAIL_POLICY_ADAPTIVE;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void rails_changing(drail_config_t *cfg)
{
    adaptive(cfg, "sinking", "slow");
}

static void rails_far(drail_config_t *cfg)
{
    adaptive(cfg, "fast", "far");
}

static void rails_far_threaded(drail_config_t *cfg)
{
    rails_far(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void rails_far_only(drail_config_t *cfg)
{
    use_rails(cfg, "far");
}

static void rails_bus(drail_config_t *cfg)
{
    adaptive(cfg, "bus0", "bus1");
}

static void rails_unequal(drail_config_t *cfg)
{
    adaptive(cfg, "fast", "slow");
}

static const struct test tests[] = {
    {"follows a change of rate", 2, change_of_rate, rails_changing, 0},
    {"leaves out a far adapter", 2, far_adapter, rails_far, 0},
    {"leaves out a far adapter, threaded", 2, far_adapter, rails_far_threaded,
     0},
    {"leaves out who shares a bus", 2, shared_bus, rails_bus, 0},
    {"many messages under way", 2, window, rails_unequal, 0},
    {"forgotten requests", 2, forgotten, rails_far_only, 0},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), TRIES, tests)
