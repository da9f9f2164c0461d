/* SPDX-License-Identifier: BSD-3-Clause */
/* Engine auto on one core: threads are not even tried. What counts is the
 * program, when it opens the transport, not what its threads do later. */
#include <sched.h>

#include "memory.h"
#include "ranks.h"
#include "tasks.h"

#define BYTES (64u << 10)

static void one_core(void)
{
    cpu_set_t mine, one;
    unsigned first = 0;
    check(sched_getaffinity(0, sizeof mine, &mine) == 0);
    while (!CPU_ISSET(first, &mine))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    check(sched_setaffinity(0, sizeof one, &one) == 0);
}

/* The first contest is over when what it has measured is told. */
static const char *settle(struct rank *r, const struct memory *b)
{
    static char text[1024];
    for (unsigned n = 0; n < 100000; n++) {
        memory_put(r, b, BYTES);
        drail_explain(r->t, BYTES, text, sizeof text);
        if (!strstr(text, "single not yet"))
            break;
    }
    check(!strstr(text, "nonthreaded not yet"));
    return text;
}

static void tries_the_others(struct rank *r)
{
    struct memory b;
    unsigned before = threads();
    memory_open(r, &b, BYTES);
    if (r->rank == 0) {
        check(strstr(settle(r, &b), ", threaded not yet") != NULL);
        check(threads() == before);
    }
    memory_close(r, &b);
}

/* The calling thread is pinned after the transport has been opened. */
static void tries_threads(struct rank *r)
{
    const double weights[] = {1, 1};
    cpu_set_t mine;
    struct memory b;
    check(sched_getaffinity(0, sizeof mine, &mine) == 0);
    memory_open(r, &b, BYTES);
    if (r->rank == 0 && CPU_COUNT(&mine) > 1) {
        one_core();
        expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_WEIGHTED, weights, 0));
        check(strstr(settle(r, &b), ", threaded not yet") == NULL);
    }
    memory_close(r, &b);
}

static void with_auto(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->engine = DRAIL_ENGINE_AUTO;
}

static void on_one_core(drail_config_t *cfg)
{
    one_core();
    with_auto(cfg);
}

static const struct test tests[] = {
    {"no threads", 2, tries_the_others, on_one_core, 0},
    {"pinned later", 2, tries_threads, with_auto, 0},
};

RUN_TESTS(tests)
