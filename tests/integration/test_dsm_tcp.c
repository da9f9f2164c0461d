/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed shared memory where a rank must make calls for others to get at
 * its memory: a thread makes them. */
#include <signal.h>

#include "dsm_scene.h"
#include "over_tcp.h"

/* The home computes, in no call of ours, while another rank reads its pages and
 * takes its lock. */
static void home_computes(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 64);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 0};
    volatile unsigned char *p = ddsm_alloc(d, 1 << 18, &place);
    _Atomic unsigned *done = ranks_outside;
    if (r->rank == 0)
        memset((void *)(uintptr_t)p, 4, 1 << 18);
    ok(d, ddsm_barrier(d));
    if (r->rank) {
        for (unsigned i = 0; i < 1 << 18; i += 4096)
            check(p[i] == 4);
        ok(d, ddsm_lock(d, 0));
        p[r->rank] = 5;
        ok(d, ddsm_unlock(d, 0));
        ++*done;
    }
    check_within(60, *done >= r->size - 1);
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < r->size; i++)
        check(p[i] == (i ? 5 : 4));
    ddsm_close(d);
}

/* Calls on the job, which let all its transports go on, while a thread of the
 * rank does so, too. */
static void job_calls(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    const ddsm_place_t place = {.homes = DDSM_CYCLIC};
    volatile uint32_t *p = ddsm_alloc(d, 64 * 4096, &place);
    for (unsigned round = 1; round <= 20; round++) {
        for (unsigned i = 0; i < 64; i++)
            p[1024 * i + r->rank]++;
        expect(r, 0, drail_job_barrier(r->job, -1));
        ok(d, ddsm_barrier(d));
        for (unsigned i = 0; i < 64; i++)
            check(p[1024 * i + (r->rank + 1) % r->size] == round);
        ddsm_t *other = space(r, 1 << 16, 0);
        ddsm_close(other);
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* A program can be ended while it waits for a page of a rank that stands still:
 * rank 2 looks on. */
static void ended_in_a_fault(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 16, 0);
    volatile char *p =
        ddsm_alloc(d, 4096, &(ddsm_place_t){.homes = DDSM_ONE, .rank = 1});
    if (r->rank == 1)
        p[0] = 1;
    ok(d, ddsm_barrier(d));
    if (r->rank == 0) {
        *ranks_outside = (unsigned)getpid();
        nap(100);
        alarm(1);
        check(p[0] == 0); /* SIGALRM comes first */
    } else if (r->rank == 1) {
        kill(getpid(), SIGSTOP);
    }
    while (!*ranks_outside)
        nap(1);
    check_within(20, kill((pid_t)*ranks_outside, 0));
    _exit(0);
}

static drail_config_t tcp;

static void by_tcp(drail_config_t *cfg)
{
    use_rails(cfg, "tcp-a", "tcp-b");
    tcp = *cfg;
    space_rails = &tcp;
}

static const struct test tests[] = {
    {"parts of 3", 3, parts, by_tcp, APART},
    {"bytes of one page", 2, bytes_of_one_page, by_tcp, APART},
    {"locks of 3", 3, locks, by_tcp, APART},
    {"job calls", 2, job_calls, by_tcp, APART},
    {"children end", 2, children_end, by_tcp, APART},
    {"ended in a fault", 3, ended_in_a_fault, by_tcp, APART | FAILS},
    {"home computes", 3, home_computes, by_tcp, APART},
};

RUN_TESTS_OVER_TCP(tests)
