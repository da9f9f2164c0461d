/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A team of several hosts asks whether programs that it knows nothing of use
 * its cores, only where it does not know, and all ranks learn the answer. The
 * hosts of the ranks, and mostly what they find, are made up here.
 */
#include <sched.h>

#include "coll/run/team/contention.h"
#include "coll/run/team/cores.h"
#include "coll/run/team/team.h"
#include "tests/integration/ranks.h"

#define RANKS 3

enum found { ALONE, CROWDED, REALLY };

struct scene {
    const char *name;
    uint64_t host[RANKS];
    bool pinned[RANKS]; /* to the first core */
    enum found found[RANKS];
    bool asks[RANKS], oversubscribed[RANKS];
    bool contended;
};

static const struct scene scenes[] = {
    {.name = "nobody finds others",
     .host = {1, 2, 3},
     .asks = {true, true, true}},
    {.name = "one rank finds others",
     .host = {1, 2, 3},
     .found = {ALONE, CROWDED, ALONE},
     .asks = {true, true, true},
     .oversubscribed = {false, true, false},
     .contended = true},
    {.name = "one host knows its ranks",
     .host = {1, 1, 1},
     .pinned = {true, true, true},
     .found = {CROWDED, CROWDED, CROWDED},
     .oversubscribed = {true, true, true}},
    {.name = "ranks of one host that share a core know it",
     .host = {1, 1, 2},
     .pinned = {true, true, false},
     .found = {CROWDED, CROWDED, ALONE},
     .asks = {false, false, true},
     .oversubscribed = {true, true, false}},
    {.name = "two hosts share a core",
     .host = {1, 2, 3},
     .pinned = {true, true, false},
     .found = {REALLY, REALLY, ALONE},
     .asks = {true, true, true},
     .oversubscribed = {true, true, false},
     .contended = true},
};

/* Of the ranks, which are forked. */
static const struct scene *scene;
static unsigned rank, asked;

void __real_cores_find(struct cores *mine);
void __wrap_cores_find(struct cores *mine);
bool __real_contention_found(const struct drail_platform *p);
bool __wrap_contention_found(const struct drail_platform *p);

void __wrap_cores_find(struct cores *mine)
{
    __real_cores_find(mine);
    mine->host = scene->host[rank];
}

bool __wrap_contention_found(const struct drail_platform *p)
{
    asked++;
    return scene->found[rank] == REALLY ? __real_contention_found(p)
                                        : scene->found[rank] == CROWDED;
}

static void pin(void)
{
    cpu_set_t all, first;
    int core = 0;
    check(sched_getaffinity(0, sizeof all, &all) == 0);
    while (!CPU_ISSET((size_t)core, &all))
        core++;
    CPU_ZERO(&first);
    CPU_SET((size_t)core, &first);
    check(sched_setaffinity(0, sizeof first, &first) == 0);
}

static void run(struct rank *r)
{
    dcoll_team_t *team;
    rank = r->rank;
    if (scene->pinned[rank])
        pin();
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    check(asked == scene->asks[rank]);
    check(team->oversubscribed == scene->oversubscribed[rank]);
    check(team->contended == scene->contended);
    dcoll_team_free(team);
}

static int play(void)
{
    const struct test test = {.run = run};
    drail_job_config_t cfg;
    drail_error_t err = {0};
    drail_job_config_init(&cfg);
    cfg.nranks = RANKS;
    cfg.error = &err;
    const int rc = drail_job_run(&cfg, rank_main, (void *)(uintptr_t)&test);
    if (rc)
        printf("# %s\n", err.text);
    return rc;
}

int main(void)
{
    const unsigned n = sizeof scenes / sizeof *scenes;
    unsigned failed = 0;
    ranks_outside = shared_memory(sizeof *ranks_outside);
    for (unsigned i = 0; i < n; i++) {
        scene = &scenes[i];
        const int rc = play();
        printf("%s %u - %s\n", rc ? "not ok" : "ok", i + 1, scene->name);
        fflush(stdout);
        failed += rc != 0;
    }
    printf("1..%u\n", n);
    return failed != 0;
}
