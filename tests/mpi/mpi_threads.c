/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program with MPI_THREAD_MULTIPLE. Arguments: what it does, and how
 * often.
 *   own    each of its threads makes blocking, non-blocking and persistent
 *          collectives on a communicator of its own, and checks the results
 *   same   one thread is in a collective, or waits for it, until another thread
 *          has completed requests of the same communicator
 *   freed  a thread frees requests of communicators that were freed before,
 *          while another thread makes collectives
 *   wrong  one rank makes a persistent request with wrong arguments: all ranks
 *          get an error, and none waits forever
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS    3
#define MOST_RANKS 8
#define SHORT      3     /* ints of a block */
#define LONG       5000  /* … in every fourth round */
#define HEAD_START 20000 /* microseconds, of the thread that waits */
#define LIMIT      90    /* seconds, for all */

static int rank, size;
static atomic_int failures;

static void check(int good, const char *what, int thread, int round)
{
    if (good)
        return;
    failures++;
    fprintf(stderr, "rank %d, thread %d, round %d: %s: wrong data\n", rank,
            thread, round, what);
}

/* ---------------------------------------------------- communicators apart ---
 */

struct worker {
    pthread_t thread;
    int number, rounds;
    MPI_Comm comm;
    int round, n; /* ints of a block */
    int send[MOST_RANKS * LONG], recv[MOST_RANKS * LONG];
};

/* Element i of what a rank sends to another one. */
static int value(const struct worker *w, int from, int to, int i)
{
    return w->round * 1000003 + w->number * 10007 + from * 101 + to * 11 + i;
}

static void fill(struct worker *w, int blocks)
{
    memset(w->recv, 0xff, sizeof w->recv);
    for (int to = 0; to < blocks; to++)
        for (int i = 0; i < w->n; i++)
            w->send[to * w->n + i] = value(w, rank, to, i);
}

/* Block r of recv is what rank r sent to @to (-1: to this rank). */
static void check_blocks(const struct worker *w, int to, const char *what)
{
    int good = 1;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < w->n; i++)
            good &= w->recv[r * w->n + i] == value(w, r, to < 0 ? rank : to, i);
    check(good, what, w->number, w->round);
}

static void check_sums(const struct worker *w, int ranks, const char *what)
{
    int good = 1;
    for (int i = 0; i < w->n; i++) {
        int sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += value(w, r, 0, i);
        good &= w->recv[i] == sum;
    }
    check(good, what, w->number, w->round);
}

static void check_bcast(const struct worker *w, const int *found, int root,
                        const char *what)
{
    int good = 1;
    for (int i = 0; i < w->n; i++)
        good &= found[i] == value(w, root, 0, i);
    check(good, what, w->number, w->round);
}

static void blocking(struct worker *w, MPI_Comm comm)
{
    const int root = w->round % size;
    fill(w, 1);
    MPI_Allreduce(w->send, w->recv, w->n, MPI_INT, MPI_SUM, comm);
    check_sums(w, size, "allreduce");
    fill(w, 1);
    MPI_Allgather(w->send, w->n, MPI_INT, w->recv, w->n, MPI_INT, comm);
    check_blocks(w, 0, "allgather");
    fill(w, size);
    MPI_Alltoall(w->send, w->n, MPI_INT, w->recv, w->n, MPI_INT, comm);
    check_blocks(w, -1, "alltoall");
    fill(w, 1);
    MPI_Bcast(rank == root ? w->send : w->recv, w->n, MPI_INT, root, comm);
    check_bcast(w, rank == root ? w->send : w->recv, root, "bcast");
    fill(w, 1);
    MPI_Scan(w->send, w->recv, w->n, MPI_INT, MPI_SUM, comm);
    check_sums(w, rank + 1, "scan");
    MPI_Barrier(comm);
}

static void all_to_all_counts(struct worker *w, MPI_Comm comm)
{
    int counts[MOST_RANKS], displs[MOST_RANKS];
    for (int r = 0; r < size; r++) {
        counts[r] = w->n;
        displs[r] = r * w->n;
    }
    fill(w, size);
    MPI_Alltoallv(w->send, counts, displs, MPI_INT, w->recv, counts, displs,
                  MPI_INT, comm);
    check_blocks(w, -1, "alltoallv");
}

/* Completed in each of three ways. */
static void complete(MPI_Request requests[2], int way)
{
    int done = 0, index;
    switch (way) {
    case 0:
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (int i = 0; i < 2; i++)
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        break;
    default:
        while (!done)
            MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    }
}

static void nonblocking(struct worker *w, MPI_Comm comm)
{
    const int root = w->round % size;
    int *bcast = w->send + w->n; /* behind what the all-gather sends */
    MPI_Request requests[2];
    fill(w, 1);
    for (int i = 0; i < w->n; i++)
        bcast[i] = rank == root ? value(w, rank, 0, i) : -1;
    MPI_Iallgather(w->send, w->n, MPI_INT, w->recv, w->n, MPI_INT, comm,
                   &requests[0]);
    MPI_Ibcast(bcast, w->n, MPI_INT, root, comm, &requests[1]);
    complete(requests, w->round % 3);
    check_blocks(w, 0, "iallgather");
    check_bcast(w, bcast, root, "ibcast");
}

static void persistent(struct worker *w, MPI_Request *request)
{
    const int kept = w->n;
    w->n = SHORT;
    fill(w, 1);
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    check_sums(w, size, "allreduce_init");
    w->n = kept;
}

/* Threads make and free communicators at the same time. */
static void passing(struct worker *w)
{
    MPI_Comm comm;
    MPI_Comm_dup(w->comm, &comm);
    for (int i = 0; i < 4; i++) {
        blocking(w, comm);
        nonblocking(w, comm);
    }
    MPI_Comm_free(&comm);
}

static void *work(void *context)
{
    struct worker *w = context;
    MPI_Request allreduce;
    MPI_Allreduce_init(w->send, w->recv, SHORT, MPI_INT, MPI_SUM, w->comm,
                       MPI_INFO_NULL, &allreduce);
    for (w->round = 0; w->round < w->rounds; w->round++) {
        w->n = w->round % 4 == 3 ? LONG : SHORT;
        blocking(w, w->comm);
        all_to_all_counts(w, w->comm);
        nonblocking(w, w->comm);
        persistent(w, &allreduce);
        if (w->round % 10 == w->number)
            passing(w);
    }
    MPI_Request_free(&allreduce);
    return NULL;
}

static void apart(int rounds)
{
    struct worker *workers = calloc(THREADS, sizeof *workers);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].rounds = rounds;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        MPI_Comm_free(&workers[i].comm);
    }
    free(workers);
}

/* --------------------------------------------------- the same communicator ---
 */

static MPI_Comm shared;

static void *in_barrier(void *none)
{
    MPI_Barrier(shared);
    return none;
}

static void *waits(void *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return NULL;
}

/* Another thread is well inside the call when this returns. */
static pthread_t beside(void *(*call)(void *), void *argument)
{
    pthread_t thread;
    pthread_create(&thread, NULL, call, argument);
    usleep(HEAD_START);
    return thread;
}

static void tell_all(void)
{
    for (int r = 1; r < size; r++)
        MPI_Send(NULL, 0, MPI_BYTE, r, 0, MPI_COMM_WORLD);
}

static void be_told(void)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 completes a broadcast while its other thread is in a barrier, which
 * the other ranks come to only when they are told. */
static void wait_beside_barrier(int round)
{
    int data = rank == 0 ? round : -1;
    MPI_Request request;
    MPI_Ibcast(&data, 1, MPI_INT, 0, shared, &request);
    if (rank == 0) {
        pthread_t other = beside(in_barrier, NULL);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        tell_all();
        pthread_join(other, NULL);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        be_told();
        MPI_Barrier(shared);
    }
    check(data == round, "ibcast beside a barrier", 0, round);
}

/* Starts of persistent requests have no order relative to other calls. */
static void start_beside_barrier(int round, MPI_Request *request, int *data)
{
    *data = rank == 0 ? round : -1;
    pthread_t other = {0};
    if (rank == 0)
        other = beside(in_barrier, NULL);
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (rank == 0)
        pthread_join(other, NULL);
    else
        MPI_Barrier(shared);
    check(*data == round, "bcast_init beside a barrier", 0, round);
}

/* Rank 0 completes one request, whose data come later, while its other thread
 * waits for another one, which the other ranks start only when they are told.
 */
static void wait_beside_wait(int round)
{
    const int root = size - 1;
    int data = rank == root ? round : -1;
    MPI_Request bcast, barrier;
    if (rank == root)
        usleep(3 * HEAD_START);
    MPI_Ibcast(&data, 1, MPI_INT, root, shared, &bcast);
    if (rank == 0) {
        MPI_Ibarrier(shared, &barrier);
        pthread_t other = beside(waits, &barrier);
        MPI_Wait(&bcast, MPI_STATUS_IGNORE);
        tell_all();
        pthread_join(other, NULL);
    } else {
        MPI_Wait(&bcast, MPI_STATUS_IGNORE);
        be_told();
        MPI_Ibarrier(shared, &barrier);
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    }
    check(data == round, "ibcast beside an ibarrier", 0, round);
}

static void together(int rounds)
{
    MPI_Request start;
    int data;
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    MPI_Barrier(shared);
    MPI_Bcast_init(&data, 1, MPI_INT, 0, shared, MPI_INFO_NULL, &start);
    for (int round = 0; round < rounds; round++) {
        wait_beside_barrier(round);
        start_beside_barrier(round, &start, &data);
        wait_beside_wait(round);
    }
    MPI_Request_free(&start);
    MPI_Comm_free(&shared);
}

/* ---------------------------------------------------- freed, and wrong --- */

static void *frees(void *context)
{
    MPI_Request *request = context;
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
    return NULL;
}

static void freed(int rounds)
{
    int one = 1, sum, none;
    for (int round = 0; round < rounds; round++) {
        pthread_t other;
        MPI_Request request;
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                           &request);
        MPI_Comm_free(&comm);
        sum = 0;
        pthread_create(&other, NULL, frees, &request);
        for (int i = 0; i < 20; i++)
            MPI_Allreduce(&one, &none, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        pthread_join(other, NULL);
        check(sum == size, "allreduce_init, freed", 0, round);
    }
}

static void wrong(void)
{
    int one = 1, sum;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int rc = MPI_Allreduce_init(&one, &sum, 1, MPI_INT,
                                rank == size - 1 ? MPI_OP_NULL : MPI_SUM, comm,
                                MPI_INFO_NULL, &request);
    check(rc != MPI_SUCCESS, "no error of allreduce_init", 0, 0);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int provided, all, mine, rounds = argc > 2 ? atoi(argv[2]) : 20;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided != MPI_THREAD_MULTIPLE || size > MOST_RANKS) {
        fprintf(stderr, "%d ranks, MPI provides threads of level %d\n", size,
                provided);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    alarm(LIMIT); /* threads that wait for each other */
    if (argc > 1 && !strcmp(argv[1], "same"))
        together(rounds);
    else if (argc > 1 && !strcmp(argv[1], "freed"))
        freed(rounds);
    else if (argc > 1 && !strcmp(argv[1], "wrong"))
        wrong();
    else
        apart(rounds);
    mine = failures;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    return all != 0;
}
