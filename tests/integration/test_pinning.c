/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library pins its own threads and nobody else's: the caller, threads that
 * the caller makes later and those of its OpenMP pool run where they ran.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>

#include "ranks.h"

static cpu_set_t own; /* mask of the process, ranks inherit it */

static bool is_own(pid_t thread)
{
    cpu_set_t now;
    CPU_ZERO(&now);
    check(sched_getaffinity(thread, sizeof now, &now) == 0);
    return CPU_EQUAL(&now, &own);
}

/* Threads of this process that do not run where the process may. */
static unsigned confined(void)
{
    unsigned n = 0;
    DIR *threads = opendir("/proc/self/task");
    check(threads != NULL);
    for (struct dirent *d; (d = readdir(threads));)
        if (d->d_name[0] != '.')
            n += !is_own((pid_t)atoi(d->d_name));
    closedir(threads);
    return n;
}

static void *look(void *arg)
{
    *(bool *)arg = is_own(0);
    return NULL;
}

static bool new_thread_is_free(void)
{
    pthread_t thread;
    bool is_free = false;
    check(pthread_create(&thread, NULL, look, &is_free) == 0);
    check(pthread_join(thread, NULL) == 0);
    return is_free;
}

/* Striped messages in both directions, as engine and team say. */
static void exchange(struct rank *r)
{
    drail_mem_t *mem;
    drail_key_t keys[2];
    unsigned char *memory;
    size_t bytes = 64 << 10;
    expect(r, 0,
           drail_mem_alloc(r->t, 2 * bytes, DRAIL_ACCESS_REMOTE_WRITE,
                           (void **)&memory, &mem));
    exchange_keys(r, mem, keys);
    drail_xfer_t x = {.local = memory,
                      .local_mem = mem,
                      .remote = &keys[r->peer],
                      .remote_offset = bytes,
                      .bytes = bytes};
    for (unsigned i = 0; i < 4; i++) {
        expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, i, NULL));
        expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
    }
    expect(r, 0, drail_fence(r->t, r->peer));
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static void resident(struct rank *r)
{
    check(is_own(0));
    exchange(r);
    check(is_own(0));
    check(new_thread_is_free());
    /* its own threads are pinned, unless there is but one core anyway */
    if (CPU_COUNT(&own) > 1)
        check(confined() == drail_nrails(r->t) - 1);
    barrier(r);
    drail_close(r->t);
    r->t = NULL;
    check(confined() == 0);
    check(new_thread_is_free());
}

/* The threads of the OpenMP pool are the only others here. */
static void forkjoin(struct rank *r)
{
    exchange(r);
    check(confined() == 0);
    check(new_thread_is_free());
}

static void rails3(drail_config_t *cfg)
{
    take_rails(cfg, 3);
    cfg->engine = DRAIL_ENGINE_THREADED;
    cfg->stripe_threshold = 64;
    cfg->pin = true;
}

static void rails3_forkjoin(drail_config_t *cfg)
{
    rails3(cfg);
    cfg->team = DRAIL_TEAM_FORKJOIN;
}

static const struct test tests[] = {
    {"resident team", 2, resident, rails3, 0},
    {"fork and join", 2, forkjoin, rails3_forkjoin, 0},
};

RUN_TESTS_AFTER(check(!sched_getaffinity(0, sizeof own, &own)), 1, tests)
