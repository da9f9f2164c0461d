/* SPDX-License-Identifier: BSD-3-Clause */
/* Engine auto where OpenMP gives no threads: then there is less to choose. */
#include "ranks.h"

#define BYTES (64u << 10)

static void moves(struct rank *r)
{
    unsigned char *memory;
    drail_mem_t *mem;
    drail_key_t keys[2];
    char text[1024];
    expect(
        r, 0,
        drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, (void **)&memory, &mem));
    exchange_keys(r, mem, keys);
    drail_req_t req;
    drail_xfer_t x = {
        .local = memory, .local_mem = mem, .remote = &keys[r->peer]};
    x.bytes = BYTES;
    bool settled = r->rank != 0;
    for (unsigned n = 0; !settled && n < 200000; n++) {
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        drail_explain(r->t, BYTES, text, sizeof text);
        settled = !strstr(text, "single not yet");
    }
    check(settled);
    /* what it does without them is not taken for what they do */
    check(r->rank || (!strstr(text, "nonthreaded not yet") &&
                      strstr(text, ", threaded not yet")));
    /* a rank that asks for them is told */
    expect(r, 0,
           drail_set_engine(r->t, DRAIL_ENGINE_THREADED,
                            drail_config_of(r->t)->team));
    if (r->rank == 0)
        check(drail_put(r->t, 1, &x, 0, 0, &req) < 0);
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static void three(drail_config_t *cfg)
{
    take_rails(cfg, 3);
    cfg->engine = DRAIL_ENGINE_AUTO;
}

static void three_forkjoin(drail_config_t *cfg)
{
    three(cfg);
    cfg->team = DRAIL_TEAM_FORKJOIN;
}

static const struct test tests[] = {
    {"resident team", 2, moves, three, 0},
    {"fork and join", 2, moves, three_forkjoin, 0},
};

/* OpenMP reads its environment when the process starts. */
int main(int argc, char **argv)
{
    if (!getenv("OMP_THREAD_LIMIT")) {
        setenv("OMP_THREAD_LIMIT", "1", 1);
        execv("/proc/self/exe", argv);
        return 127;
    }
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
