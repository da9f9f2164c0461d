/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi/contest.c by itself, on 2 ranks: who is tried when, and who serves. */
#include <stdio.h>

#include "mpi/contest.c"

static int failures, rank;

static void check(int good, const char *what)
{
    if (!good)
        fprintf(stderr, "rank %d: %s\n", rank, what);
    failures += !good;
}

/* As layer.c does it, by libdcoll. */
static void decide(struct contest *c, bool clock)
{
    struct contest_call all[2 * CONTEST_COUNTED];
    MPI_Allgather(c->timed, sizeof c->timed, MPI_BYTE, all, sizeof c->timed,
                  MPI_BYTE, MPI_COMM_WORLD);
    contest_decide(c, all, 2, clock);
}

/* When this rank comes to a call, and leaves it. */
struct visit {
    double below[2], ours[2];
};

/* So many calls, of which `trials` are timed; the last ones go to `whose`. What
 * is not counted takes long on the side that is to win. */
static void play(struct contest *c, int calls, struct visit at, bool clock,
                 int trials, int whose, const char *what)
{
    int timed = 0, served = CONTEST_BELOW;
    for (int i = 0; i < calls; i++) {
        bool trial;
        served = contest_turn(c, &trial);
        if (!trial)
            continue;
        check(served == timed / 5 % 2, "turns");
        const double *his = served == CONTEST_OURS ? at.ours : at.below;
        bool counts = timed >= 10 && timed % 5 > 0;
        double late = !counts && served == whose ? 100 : 0;
        timed++;
        if (contest_took(c, his[0], his[1] + late))
            decide(c, clock);
    }
    check(timed == trials && served == whose, what);
}

/* One where all come at the same time. */
static void race(struct contest *c, int calls, double below, double ours,
                 int trials, int whose, const char *what)
{
    play(c, calls, (struct visit){{1, 1 + below}, {1, 1 + ours}}, true, trials,
         whose, what);
}

int main(int argc, char **argv)
{
    struct contest c = {0}, far = {0}, skew = {0}, apart = {0};
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    race(&c, 5000, 2, rank ? 3 : 1, 30, CONTEST_BELOW, "the slowest counts");
    race(&c, 5000, 1.5, 1, 30, CONTEST_OURS, "anew, ours");
    race(&c, 5000, 1, 0.99, 30, CONTEST_BELOW, "not worth it");
    race(&c, 5000, 1, 3, 30, CONTEST_BELOW, "clear");
    race(&c, 45000, 3, 1, 0, CONTEST_BELOW, "not tried again");
    race(&c, 5000, 3, 1, 30, CONTEST_OURS, "but seldom");
    race(&far, 12000, 9, 1, 30, CONTEST_OURS, "clear, ours");
    check(far.saves == 8, "what it saves");
    /* rank 0 waits for 8 in ours, as rank 1 is late: it takes 1 */
    struct visit late = {{rank ? 9 : 1, 11}, {rank ? 9 : 1, 10}};
    play(&skew, 31, late, true, 30, CONTEST_OURS, "from the last one on");
    /* where rank 1's clock is 100 ahead, who takes longest counts */
    struct visit other = {{rank ? 101 : 1, rank ? 102 : 4},
                          {rank ? 101 : 1, rank ? 103 : 3}};
    play(&apart, 31, other, false, 30, CONTEST_OURS, "without a clock");
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    return all != 0;
}
