/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Within a parallel region of the caller's OpenMP gives no further threads:
 * what could not begin has done no harm.
 */
#include <sched.h>

#include "dapl_rail/batch.h"
#include "memory.h"
#include "ranks.h"

#define BYTES (1u << 20)

static int call(struct rank *r, drail_xfer_t *x, bool batch)
{
    drail_batch_t ask = {.xfer = *x, .count = 1};
    int rc = 1;
#pragma omp parallel num_threads(2)
#pragma omp single
    rc = batch ? drail_batch(r->t, 1, &ask)
               : drail_put(r->t, 1, x, DRAIL_NOTIFY, 5, NULL);
    return rc;
}

static void nested(struct rank *r)
{
    drail_mem_t *mem;
    drail_key_t keys[2];
    unsigned char *memory;
    uint32_t id;
    expect(
        r, 0,
        drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, (void **)&memory, &mem));
    exchange_keys(r, mem, keys);
    if (r->rank == 0) {
        drail_xfer_t x = {.local = memory,
                          .local_mem = mem,
                          .remote = &keys[1],
                          .bytes = BYTES};
        memset(memory, 7, BYTES);
        /* more often than there are credits */
        for (unsigned n = 0; n < 10; n++)
            expect(r, DRAIL_ENOTSUP, call(r, &x, n % 2));
        expect(r, 0,
               drail_set_engine(r->t, DRAIL_ENGINE_NONTHREADED,
                                DRAIL_TEAM_FORKJOIN));
        expect(r, 0, drail_put(r->t, 1, &x, DRAIL_NOTIFY, 6, NULL));
    } else {
        expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
        check(id == 6 && memory[0] == 7 && memory[BYTES - 1] == 7);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

/* Until auto has settled, or, with threads, has tried these, too. */
static void settle(struct rank *r, const drail_xfer_t *x, bool threads)
{
    char text[1024] = "";
    bool settled = false;
    for (unsigned n = 0; !settled && n < 20000; n++) {
        drail_req_t req;
        expect(r, 0, drail_put(r->t, 1, x, 0, 0, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        drail_explain(r->t, x->bytes, text, sizeof text);
        settled =
            !strstr(text, threads ? ", threaded not yet" : "single not yet");
    }
    check(settled);
    check(threads || strstr(text, ", threaded not yet"));
}

static bool several_cores(void)
{
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) || CPU_COUNT(&mine) > 1;
}

/* Engine auto does without threads there, but not for ever. */
static void automatic(struct rank *r)
{
    struct memory b;
    memory_open(r, &b, BYTES);
    if (r->rank == 0) {
        drail_xfer_t x = memory_xfer(r, &b, BYTES / 16);
#pragma omp parallel num_threads(2)
#pragma omp single
        settle(r, &x, false);
        expect(r, 0,
               drail_set_engine(r->t, DRAIL_ENGINE_AUTO, DRAIL_TEAM_RESIDENT));
        if (several_cores())
            settle(r, &x, true);
    }
    memory_close(r, &b);
}

static void forkjoin(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_THREADED;
    cfg->team = DRAIL_TEAM_FORKJOIN;
    cfg->depth = 4;
}

static void auto_forkjoin(drail_config_t *cfg)
{
    forkjoin(cfg);
    cfg->engine = DRAIL_ENGINE_AUTO;
}

static const struct test tests[] = {
    {"team forkjoin", 2, nested, forkjoin, 0},
    {"auto", 2, automatic, auto_forkjoin, 0},
};

RUN_TESTS(tests)
