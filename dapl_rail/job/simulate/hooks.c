/* SPDX-License-Identifier: BSD-3-Clause */
/* The hooks of platform.h, carried out by the simulator. */
#include "dapl_rail/job/simulate/cluster.h"

#define NS 1e-9 /* in seconds */

static const struct sim_api *sim_of(const struct drail_platform *p)
{
    return ((const struct cluster *)p)->sim;
}

static uint64_t now(const struct drail_platform *p)
{
    return sim_of(p)->now();
}

static void sleep_until(const struct drail_platform *p, uint64_t ns)
{
    sim_of(p)->sleep_until(ns);
}

static void wait(const struct drail_platform *p, _Atomic uint32_t *flag,
                 uint32_t value, uint64_t until_ns, bool shared)
{
    (void)shared;
    if (atomic_load(flag) == value)
        sim_of(p)->flag_wait(until_ns);
}

/* Ranks of a node may see a flag at different addresses, so all sleepers
 * look. */
static void wake(const struct drail_platform *p, _Atomic uint32_t *flag,
                 bool shared)
{
    (void)flag, (void)shared;
    sim_of(p)->flag_wake();
}

static void set(const struct drail_platform *p, _Atomic uint32_t *flag,
                uint32_t value)
{
    sim_of(p)->flag_set((uint32_t *)flag, value);
}

static void settle(const struct drail_platform *p)
{
    sim_of(p)->flags_settle();
}

static void between_polls(const struct drail_platform *p)
{
    sim_of(p)->pause();
}

static int threads_start(const struct drail_platform *p, unsigned n,
                         platform_body_t body, void *arg,
                         struct platform_threads **threads)
{
    return sim_of(p)->threads_start(n, body, arg, (void *)threads)
               ? DRAIL_ENOMEM
               : 0;
}

static void threads_join(const struct drail_platform *p,
                         struct platform_threads *threads)
{
    sim_of(p)->threads_join((void *)threads);
}

/* The caller runs body 0, other threads the rest. */
struct others {
    platform_body_t body;
    void *arg;
};

static void other_run(void *arg, unsigned index)
{
    const struct others *others = arg;
    others->body(others->arg, index + 1);
}

static int threads_run(const struct drail_platform *p, unsigned n,
                       platform_body_t body, void *arg)
{
    struct others others = {body, arg};
    struct sim_threads *threads;
    if (sim_of(p)->threads_start(n - 1, other_run, &others, &threads))
        return DRAIL_ENOTSUP;
    body(arg, 0);
    sim_of(p)->threads_join(threads);
    return 0;
}

static void copy(const struct drail_platform *p, void *to, const void *from,
                 size_t bytes)
{
    sim_of(p)->copy(to, from, bytes);
    sim_of(p)->move(to, from, bytes);
}

/* Reading an operand that is not in the result takes as long as a copy. */
static void combine(const struct drail_platform *p, void *result,
                    const void *left, const void *right, size_t bytes)
{
    if (left != result)
        sim_of(p)->copy(result, left, bytes);
    if (right != result)
        sim_of(p)->copy(result, right, bytes);
}

int simulate_hollow(const struct drail_platform *p, void *address, size_t bytes,
                    bool on)
{
    return sim_of(p)->hollow(address, bytes, on) ? DRAIL_ENOMEM : 0;
}

static void compute(const struct drail_platform *p, uint64_t ns)
{
    sim_of(p)->busy((double)ns * NS);
}

static const char *const rails[SIMULATED_RAILS] = {
    "sim0", "sim1", "sim2", "sim3", "sim4", "sim5", "sim6", "sim7"};

const struct drail_platform simulate_hooks = {
    .now_ns = now,
    .cpu_ns = now,
    .sleep_until = sleep_until,
    .wait = wait,
    .wake = wake,
    .set = set,
    .settle = settle,
    .yield = between_polls,
    .relax = between_polls,
    .threads_start = threads_start,
    .threads_join = threads_join,
    .threads_run = threads_run,
    .copy = copy,
    .combine = combine,
    .compute = compute,
    .rails = rails,
};
