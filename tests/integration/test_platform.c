/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another platform in the place of the machine: ranks are threads of one
 * process, which all-gather through its memory, and the clock is another one.
 */
#include <pthread.h>

#include "machine.h"
#include "ranks.h"

#define RANKS   4
#define BYTES   (64u << 10)
#define AHEAD   1000000000000000ull /* of the clock, nanoseconds */
#define GATHERS 65536u

struct world {
    struct drail_platform platform; /* first: hooks get its address */
    const drail_job_config_t *cfg;
    drail_rank_main_t rank_main;
    void *arg;
    pthread_barrier_t barrier;
    unsigned char gathered[RANKS * GATHERS];
    _Atomic unsigned clocks, starts, joins, waits, wakes, pauses, ended;
};

struct place {
    struct world *world;
    unsigned rank;
};

/* ------------------------------------------------------------- the hooks */

static struct world *world_of(const struct drail_platform *p)
{
    return (struct world *)(uintptr_t)p;
}

static const struct drail_platform *machine; /* set before there are threads */

static uint64_t clock_ahead(const struct drail_platform *p)
{
    world_of(p)->clocks++;
    return machine->now_ns(machine) + AHEAD;
}

static void sleep_ahead(const struct drail_platform *p, uint64_t ns)
{
    world_of(p)->pauses++;
    machine->sleep_until(machine, ns - AHEAD);
}

static void count_wait(const struct drail_platform *p, _Atomic uint32_t *flag,
                       uint32_t value, uint64_t until_ns, bool shared)
{
    world_of(p)->waits++;
    machine->wait(machine, flag, value,
                  until_ns == PLATFORM_FOREVER ? until_ns : until_ns - AHEAD,
                  shared);
}

static void count_wake(const struct drail_platform *p, _Atomic uint32_t *flag,
                       bool shared)
{
    world_of(p)->wakes++;
    machine->wake(machine, flag, shared);
}

static void count_pause(const struct drail_platform *p)
{
    world_of(p)->pauses++;
    machine->yield(machine);
}

static int count_start(const struct drail_platform *p, unsigned n,
                       platform_body_t body, void *arg,
                       struct platform_threads **threads)
{
    world_of(p)->starts++;
    return machine->threads_start(machine, n, body, arg, threads);
}

static void count_join(const struct drail_platform *p,
                       struct platform_threads *threads)
{
    world_of(p)->joins++;
    machine->threads_join(machine, threads);
}

static int gather(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms)
{
    const struct place *place = context;
    struct world *w = place->world;
    check(bytes <= GATHERS && timeout_ms > 0);
    memcpy(w->gathered + place->rank * bytes, mine, bytes);
    pthread_barrier_wait(&w->barrier);
    memcpy(all, w->gathered, bytes * w->cfg->nranks);
    pthread_barrier_wait(&w->barrier);
    return 0;
}

static void *rank_thread(void *arg)
{
    struct place *place = arg;
    struct world *w = place->world;
    drail_job_t *job = NULL;
    drail_error_t err = {0};
    drail_job_join_t how = {.rank = place->rank,
                            .size = w->cfg->nranks,
                            .allgather = gather,
                            .context = place,
                            .platform = &w->platform};
    if (drail_job_join(&how, &job, &err))
        printf("# rank %u: %s\n", place->rank, err.text);
    check(job && drail_job_platform(job) == &w->platform);
    w->ended += !w->rank_main(job, w->arg);
    drail_job_leave(job);
    return NULL;
}

static int run_as_threads(const struct drail_platform *p,
                          const drail_job_config_t *cfg, drail_rank_main_t body,
                          void *arg)
{
    struct world *w = world_of(p);
    struct place places[RANKS];
    pthread_t threads[RANKS];
    w->cfg = cfg;
    w->rank_main = body;
    w->arg = arg;
    w->ended = 0;
    pthread_barrier_init(&w->barrier, NULL, cfg->nranks);
    for (unsigned r = 0; r < cfg->nranks; r++) {
        places[r] = (struct place){w, r};
        check(!pthread_create(&threads[r], NULL, rank_thread, &places[r]));
    }
    for (unsigned r = 0; r < cfg->nranks; r++)
        pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&w->barrier);
    return w->ended == cfg->nranks ? 0 : DRAIL_EJOB;
}

/* ------------------------------------------------------------- the tests */

/* Everybody puts to everybody, again and again. */
static void everybody(struct rank *r)
{
    drail_mem_t *mem;
    drail_key_t keys[RANKS];
    unsigned char *memory;
    expect(r, 0,
           drail_mem_alloc(r->t, (RANKS + 1) * (size_t)BYTES,
                           DRAIL_ACCESS_REMOTE_WRITE, (void **)&memory, &mem));
    unsigned char *mine = memory + RANKS * BYTES;
    exchange_keys(r, mem, keys);
    for (unsigned round = 1; round <= 20; round++) {
        memset(mine, (int)(round + r->rank), BYTES);
        for (unsigned p = 0; p < r->size; p++) {
            drail_xfer_t x = {.local = mine,
                              .local_mem = mem,
                              .remote = &keys[p],
                              .remote_offset = r->rank * BYTES,
                              .bytes = BYTES};
            if (p != r->rank)
                expect(r, 0, drail_put(r->t, p, &x, DRAIL_NOTIFY, 1, NULL));
        }
        for (unsigned p = 0; p < r->size; p++) {
            if (p == r->rank)
                continue;
            expect(r, 0, drail_notify_wait(r->t, p, NULL, -1));
            expect(r, 0, drail_fence(r->t, p));
            unsigned char *block = memory + p * BYTES;
            for (unsigned i = 0; i < BYTES; i++)
                check(block[i] == (unsigned char)(round + p));
        }
        barrier(r);
    }
    expect(r, 0, drail_mem_release(mem));
}

/* A time that runs out does so by the platform's clock. */
static void nothing_comes(struct rank *r)
{
    if (r->rank == 0)
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, 1, NULL, 20));
    barrier(r);
}

static void threaded(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_THREADED;
    cfg->team = DRAIL_TEAM_RESIDENT;
}

static void nonthreaded(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

int main(void)
{
    static const struct test tests[] = {
        {"threaded", RANKS, everybody, threaded, 0},
        {"nonthreaded", RANKS, everybody, nonthreaded, 0},
        {"nothing comes", 2, nothing_comes, NULL, 0},
    };
    static struct world w;
    drail_job_config_t cfg;
    bool ok = true;

    machine = machine_platform();
    w.platform = *machine;
    w.platform.now_ns = clock_ahead;
    w.platform.sleep_until = sleep_ahead;
    w.platform.wait = count_wait;
    w.platform.wake = count_wake;
    w.platform.yield = w.platform.relax = count_pause;
    w.platform.threads_start = count_start;
    w.platform.threads_join = count_join;
    w.platform.run_ranks = run_as_threads;
    drail_job_config_init(&cfg);
    cfg.platform = &w.platform;
    for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        cfg.nranks = tests[i].nranks;
        int rc = drail_job_run(&cfg, rank_main, (void *)(uintptr_t)&tests[i]);
        printf("%s %u - %s\n", rc ? "not ok" : "ok", i + 1, tests[i].name);
        ok &= !rc;
    }
    printf("# %u clocks, %u starts, %u joins, %u waits, %u wakes, %u pauses\n",
           w.clocks, w.starts, w.joins, w.waits, w.wakes, w.pauses);
    return !(ok && w.clocks && w.starts == RANKS && w.joins == RANKS &&
             w.pauses);
}
