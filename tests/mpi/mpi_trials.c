/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi/choose/trials.c by itself, on 2 ranks: when trials happen, and which side
 * serves afterwards. */
#include <mpi.h>
#include <stdio.h>

#include "mpi/choose/trials.c"

static int failures, rank;

static void check(int good, const char *what)
{
    if (!good)
        fprintf(stderr, "rank %d: %s\n", rank, what);
    failures += !good;
}

/* As choose/blocking.c does, but by the MPI itself. */
static void decide(struct trials *c, bool clock)
{
    struct timed_call all[2 * TRIAL_CALLS];
    MPI_Allgather(c->timed, sizeof c->timed, MPI_BYTE, all, sizeof c->timed,
                  MPI_BYTE, MPI_COMM_WORLD);
    trials_decide(c, all, 2, clock);
}

/* When this rank comes to a call, and leaves it. */
struct visit {
    double below[2], dcoll[2];
};

/* So many calls: `trials` of them must be timed, and `winner` make the last. On
 * the winner's side the first call of a round takes long, and those of its
 * first round a little longer. */
static void play(struct trials *c, int calls, struct visit at, bool clock,
                 int trials, int winner, const char *what)
{
    int timed = 0, served = SIDE_BELOW;
    for (int i = 0; i < calls; i++) {
        bool trial;
        served = trials_next_side(c, &trial);
        if (!trial)
            continue;
        check(served == timed % 30 / 5 % 2, "turns");
        const double *visit = served == SIDE_DCOLL ? at.dcoll : at.below;
        double late = timed % 5 == 0 ? 100 : timed < 10 ? 0.4 : 0;
        if (served != winner)
            late = 0;
        timed++;
        if (trials_record(c, visit[0], visit[1] + late))
            decide(c, clock);
    }
    check(timed == trials && served == winner, what);
}

/* All ranks arrive at the same time. */
static void race(struct trials *c, int calls, double below, double dcoll,
                 int trials, int winner, const char *what)
{
    play(c, calls, (struct visit){{1, 1 + below}, {1, 1 + dcoll}}, true, trials,
         winner, what);
}

int main(int argc, char **argv)
{
    struct trials c, far, skew, apart, hopeless, known, lost;
    int all;
    trials_open(&c, 0, false);
    trials_open(&far, 0, true);
    trials_open(&skew, 0, false);
    trials_open(&apart, 0, true);
    trials_open(&hopeless, 0, false);
    trials_open(&known, 2.5, false);
    trials_open(&lost, -2.5, false);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    race(&c, 64, 2, 1, 0, SIDE_BELOW, "not at once");
    race(&c, 5000, 2, rank ? 3 : 1, 30, SIDE_BELOW, "the slowest counts");
    race(&c, 5000, 1.5, 1, 30, SIDE_DCOLL, "anew, dcoll");
    race(&c, 5000, 1, 0.99, 30, SIDE_BELOW, "not worth it");
    race(&hopeless, 64 + 5000, 1, 3, 10, SIDE_BELOW, "soon clear");
    check(hopeless.saves < -1.5, "what it would cost");
    race(&hopeless, 5000, 9, 3, 30, SIDE_DCOLL, "but tried again");
    race(&far, 12000, 9, 1, 30, SIDE_DCOLL, "clear, dcoll");
    check(far.saves == 8, "what it saves");
    check(trials_prefer_dcoll(&known) && known.saves == 2.5, "known before");
    race(&known, 5000, 3, 1, 0, SIDE_DCOLL, "not tried at first");
    race(&known, 30, 1, 1.5, 30, SIDE_DCOLL, "but later");
    race(&known, 1, 1, 1.5, 0, SIDE_BELOW, "and lost");
    race(&lost, 5000, 3, 1, 0, SIDE_BELOW, "known to be lost");
    /* rank 0 waits for 8 in libdcoll, as rank 1 is late: the call takes 1 */
    struct visit late = {{rank ? 9 : 1, 11}, {rank ? 9 : 1, 10}};
    play(&skew, 64 + 31, late, true, 30, SIDE_DCOLL, "from the last one on");
    /* rank 1's clock is 100 fast: the slowest rank counts */
    struct visit other = {{rank ? 101 : 1, rank ? 102 : 4},
                          {rank ? 101 : 1, rank ? 103 : 3}};
    play(&apart, 31, other, false, 30, SIDE_DCOLL, "without a clock");
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    return all != 0;
}
