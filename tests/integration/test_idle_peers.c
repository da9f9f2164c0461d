/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that is connected with many others pays for those it talks to: what
 * its other peers take of memory allows for a thousand of them over two rails
 * in 64 MiB, and a look for news takes as long beside few as beside many.
 */
#include "ranks.h"

#define RANKS    64u
#define FEW      12u /* peers before the first measurement */
#define MESSAGES 30u /* each way, with each peer */
#define LINK_KB  32  /* 64 MiB of 1000 peers over two rails, … */
#define DEPTH    4u  /* … for which the depth is lowered to this */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* The rank whose turn it is; the others rest. In memory that they share. */
static _Atomic unsigned *turn;

static void await_turn(unsigned rank)
{
    for (double end = seconds() + 60; *turn < rank; nap(20))
        check(seconds() < end);
}

static long resident_kb(void)
{
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    check(f && fscanf(f, "%ld %ld", &all, &resident) == 2);
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void talk(struct rank *r, unsigned peer)
{
    char text[8] = "";
    expect(r, 0, drail_connect(r->t, peer));
    for (unsigned i = 0; i < MESSAGES; i++) {
        if (r->rank == 0)
            expect(r, 0, drail_send(r->t, peer, text, sizeof text, NULL));
        expect(r, 0, drail_recv(r->t, peer, text, sizeof text, NULL, -1));
        if (r->rank != 0)
            expect(r, 0, drail_send(r->t, peer, text, sizeof text, NULL));
    }
}

static void talk_until(struct rank *r, unsigned peers)
{
    while (*turn < peers)
        talk(r, ++*turn);
}

/* Of a look that finds nothing: the least, as others use the machine, too. */
static double look_ns(struct rank *r)
{
    enum { LOOKS = 500, TIMES = 20 };
    double least = 1e9;
    for (int t = 0; t < TIMES; t++) {
        double start = seconds();
        for (int i = 0; i < LOOKS; i++)
            expect(r, 0, drail_progress(r->t));
        double ns = (seconds() - start) * 1e9 / LOOKS;
        least = ns < least ? ns : least;
    }
    return least;
}

static void centre(struct rank *r)
{
    talk_until(r, FEW);
    long few_kb = resident_kb();
    double few_ns = look_ns(r);
    talk_until(r, RANKS - 1);
    long kb = (resident_kb() - few_kb) / (2 * (long)(RANKS - 1 - FEW));
    double ns = look_ns(r);
    printf("# %ld kB a peer and rail; a look takes %.0f ns, beside %u peers "
           "%.0f ns\n",
           kb, few_ns, RANKS - 1, ns);
    check(SANITIZED || kb <= LINK_KB);
    check(ns < 3 * few_ns);
}

static void star(struct rank *r)
{
    if (r->rank == 0) {
        centre(r);
    } else {
        await_turn(r->rank);
        talk(r, 0);
        await_turn(RANKS - 1);
    }
}

static void depth_of_many(drail_config_t *cfg)
{
    cfg->depth = DEPTH;
}

static const struct test tests[] = {
    {"star", RANKS, star, depth_of_many, APART},
};

int main(int argc, char **argv)
{
    turn = mmap(NULL, sizeof *turn, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(turn != MAP_FAILED);
    return run_tests(tests, 1, 1, argc, argv);
}
