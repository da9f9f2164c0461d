/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that is connected with many others pays for those it talks to: what
 * its other peers take of memory allows for a thousand of them over two rails
 * in 64 MiB, and a look for news takes as long beside few as beside many.
 *
 * With a number of ranks as its argument (and one of messages) it measures, and
 * shows what it has found.
 */
#include "ranks.h"
#include "tests/sanitizers.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#define MOST    4096u
#define FEW     12u /* peers before the first measurement */
#define LINK_KB 32  /* 64 MiB of 1000 peers over two rails, … */
#define DEPTH   4u  /* … for which the depth is lowered to this */
#define PINGS   1000u

static unsigned ranks = 64, messages = 30;
static bool measured;

/* How often each rank has been called; in memory that they share. */
static _Atomic uint32_t *calls;

static void call(unsigned rank)
{
    calls[rank]++;
    syscall(SYS_futex, &calls[rank], FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Takes no time of the others' cores. */
static void await_call(unsigned rank, uint32_t number)
{
    uint32_t now;
    while ((now = calls[rank]) < number)
        syscall(SYS_futex, &calls[rank], FUTEX_WAIT, now, NULL, NULL, 0);
}

/* Of messages each way: also the seconds that they took. */
static double talk(struct rank *r, unsigned peer, unsigned n)
{
    char text[8] = "";
    double start = seconds();
    for (unsigned i = 0; i < n; i++) {
        if (r->rank == 0)
            expect(r, 0, drail_send(r->t, peer, text, sizeof text, NULL));
        expect(r, 0, drail_recv(r->t, peer, text, sizeof text, NULL, -1));
        if (r->rank != 0)
            expect(r, 0, drail_send(r->t, peer, text, sizeof text, NULL));
    }
    return seconds() - start;
}

static void meet_until(struct rank *r, unsigned from, unsigned to)
{
    for (unsigned p = from; p < to; p++) {
        call(p);
        expect(r, 0, drail_connect(r->t, p));
        talk(r, p, messages);
    }
}

static long resident_kb(void)
{
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    check(f && fscanf(f, "%ld %ld", &all, &resident) == 2);
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
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

enum { TALKS = 20 };

static void show_latency(struct rank *r)
{
    double least = 1e9;
    call(1);
    for (int t = 0; t < TALKS; t++) {
        double us = talk(r, 1, PINGS) * 1e6 / (2 * PINGS);
        least = us < least ? us : least;
    }
    printf("# %ld kB resident; 8 bytes take %.3f us, the least of %d times "
           "%u ping-pongs\n",
           resident_kb(), least, TALKS, PINGS);
}

static void centre(struct rank *r)
{
    meet_until(r, 1, FEW);
    long few_kb = resident_kb();
    double few_ns = look_ns(r);
    meet_until(r, FEW, r->size);
    long kb = (resident_kb() - few_kb) / (2 * (long)(r->size - FEW));
    double ns = look_ns(r);
    printf("# %ld kB a peer and rail; a look takes %.0f ns, beside %u peers "
           "%.0f ns\n",
           kb, few_ns, r->size - 1, ns);
    if (measured)
        show_latency(r);
    check((ASAN || TSAN) || kb <= LINK_KB);
    check(ns < 3 * few_ns);
    for (unsigned p = 1; p < r->size; p++)
        call(p);
}

static void star(struct rank *r)
{
    if (r->rank == 0) {
        centre(r);
        return;
    }
    await_call(r->rank, 1);
    expect(r, 0, drail_connect(r->t, 0));
    talk(r, 0, messages);
    await_call(r->rank, 2);
    for (int t = 0; measured && r->rank == 1 && t < TALKS; t++)
        talk(r, 0, PINGS);
}

static void depth_of_many(drail_config_t *cfg)
{
    cfg->depth = DEPTH;
}

int main(int argc, char **argv)
{
    measured = argc > 1;
    if (argc > 1)
        ranks = (unsigned)atoi(argv[1]);
    if (argc > 2)
        messages = (unsigned)atoi(argv[2]);
    check(ranks > FEW && ranks <= MOST);
    calls = shared_memory(MOST * sizeof *calls);
    const struct test tests[] = {{"star", ranks, star, depth_of_many, APART}};
    return run_tests(tests, 1, 1, 1, argv);
}
