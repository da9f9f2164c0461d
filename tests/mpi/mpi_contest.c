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
static void decide(struct contest *c)
{
    double most[2];
    MPI_Allreduce(c->best, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    contest_decide(c, most);
}

/* So many calls, of which `trials` are timed; the last ones go to `whose`. */
static void play(struct contest *c, int calls, double below, double ours,
                 int trials, int whose, const char *what)
{
    int timed = 0, served = CONTEST_BELOW, turn = 0;
    for (int i = 0; i < calls; i++) {
        bool trial;
        served = contest_turn(c, &trial);
        timed += trial;
        if (!trial)
            continue;
        check(served == turn++ % 2, "turns");
        if (contest_took(c, served, served == CONTEST_OURS ? ours : below))
            decide(c);
    }
    check(timed == trials && served == whose, what);
}

int main(int argc, char **argv)
{
    struct contest c = {0}, far = {0};
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    play(&c, 5000, 2, rank ? 3 : 1, 10, CONTEST_BELOW, "the slowest counts");
    play(&c, 5000, 1.5, 1, 10, CONTEST_OURS, "anew, ours");
    play(&c, 5000, 1, 0.99, 10, CONTEST_BELOW, "not worth it");
    play(&c, 5000, 1, 3, 10, CONTEST_BELOW, "clear");
    play(&c, 10000, 3, 1, 0, CONTEST_BELOW, "not tried again");
    play(&far, 12000, 9, 1, 10, CONTEST_OURS, "clear, ours");
    check(contest_gain(&far) == 8, "gain");
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    return all != 0;
}
