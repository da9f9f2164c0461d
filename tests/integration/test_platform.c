/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another platform in the place of the machine: ranks are threads of one
 * process, which all-gather through its memory, and the clock is another one.
 */
#include <pthread.h>
#include <sched.h>

#include "dapl_rail/batch.h"
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
    _Atomic unsigned clocks, cpu_clocks, pauses, waits, wakes;
    _Atomic unsigned starts, joins, regions, copies, ended;
};

struct place {
    struct world *world;
    unsigned rank;
};

static struct world world;

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

static uint64_t count_cpu(const struct drail_platform *p)
{
    world_of(p)->cpu_clocks++;
    return machine->cpu_ns(machine);
}

static void count_copy(const struct drail_platform *p, void *to,
                       const void *from, size_t bytes)
{
    world_of(p)->copies++;
    machine->copy(machine, to, from, bytes);
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

static int count_run(const struct drail_platform *p, unsigned n,
                     platform_body_t body, void *arg)
{
    world_of(p)->regions++;
    return machine->threads_run(machine, n, body, arg);
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

static void fork_and_join(struct rank *r)
{
    everybody(r);
    check(world.regions > 0);
}

/* Threads of a team that have nothing to do sleep, and are woken. */
static void asleep(struct rank *r)
{
    drail_mem_t *mem;
    drail_key_t keys[2];
    void *memory;
    expect(r, 0, drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, &memory, &mem));
    exchange_keys(r, mem, keys);
    drail_xfer_t x = {.local = memory,
                      .local_mem = mem,
                      .remote = &keys[r->peer],
                      .bytes = BYTES};
    for (unsigned n = 0; r->rank == 0 && n < 10; n++) {
        unsigned waits = world.waits, wakes = world.wakes;
        double begin = seconds();
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, NULL));
        while (world.waits == waits && seconds() - begin < 10)
            sched_yield();
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, NULL));
        expect(r, 0, drail_fence(r->t, 1));
        check(world.waits > waits && world.wakes > wakes);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static void message(struct rank *r)
{
    char text[8] = "";
    unsigned before = world.copies;
    barrier(r);
    if (r->rank == 0)
        expect(r, 0, drail_send(r->t, 1, "abc", 4, NULL));
    else
        expect(r, 0, drail_recv(r->t, 0, text, sizeof text, NULL, -1));
    check(r->rank == 0 || !strcmp(text, "abc"));
    barrier(r);
    check(world.copies >= before + 2); /* into a slot, and out of it */
}

static void account(struct rank *r)
{
    drail_batch_t batch = {.count = 1, .account = true};
    unsigned before = world.cpu_clocks;
    if (r->rank == 0)
        expect(r, 0, drail_batch(r->t, 1, &batch));
    else
        expect(r, 0, drail_batch_answer(r->t, 0, false, 0, NULL));
    check(r->rank || world.cpu_clocks > before);
}

static void threaded(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_THREADED;
    cfg->team = DRAIL_TEAM_RESIDENT;
}

static void forking(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_THREADED;
    cfg->team = DRAIL_TEAM_FORKJOIN;
}

static const struct test tests[] = {
    {"threaded", RANKS, everybody, threaded, 0},
    {"fork and join", RANKS, fork_and_join, forking, 0},
    {"nonthreaded", RANKS, everybody, nonthreaded, 0},
    {"nothing comes", 2, nothing_comes, NULL, 0},
    {"threads that sleep", 2, asleep, threaded, 0},
    {"a message", 2, message, NULL, 0},
    {"an account", 2, account, nonthreaded, 0},
};

static void world_make(void)
{
    struct drail_platform *p = &world.platform;
    machine = machine_platform();
    *p = *machine;
    p->now_ns = clock_ahead;
    p->cpu_ns = count_cpu;
    p->sleep_until = sleep_ahead;
    p->wait = count_wait;
    p->wake = count_wake;
    p->yield = p->relax = count_pause;
    p->threads_start = count_start;
    p->threads_join = count_join;
    p->threads_run = count_run;
    p->copy = count_copy;
    p->run_ranks = run_as_threads;
}

int main(int argc, char **argv)
{
    setenv("DRAIL_SPIN_US", "0", 1); /* sleeps at once */
    world_make();
    ranks_platform = &world.platform;
    int failed =
        run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
    check(world.clocks && world.pauses);
    check(world.starts && world.joins == world.starts);
    return failed;
}
