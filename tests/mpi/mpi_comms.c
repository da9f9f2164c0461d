/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators. Argument: "merged": with a spawned process, which lacks the
 * layer; "many": more at a time than the layer serves; "freed": by each rank in
 * its own order, with messages in between; "kept": alive by persistent
 * requests; "short", "lasting": with few calls, and with many.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMES   12
#define ALL     2048
#define MANY    1900
#define USED    160 /* of these: with another one for each they are too many */
#define SECONDS 60  /* nobody waits longer */
#define LASTS   0.5 /* seconds, in which a team pays for itself */

static int failures;

static void broadcast(MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int time = 0; time < TIMES; time++) {
        int root = time % size, wanted = 100 * root + time;
        int data = rank == root ? wanted : -1;
        MPI_Bcast(&data, 1, MPI_INT, root, comm);
        if (data == wanted)
            continue;
        failures++;
        fprintf(stderr, "rank %d: broadcast %d: wrong data\n", rank, time);
    }
}

/* Of the spawned program by its parents, or the other way. */
static void merged(MPI_Comm others, int high)
{
    MPI_Comm all;
    MPI_Intercomm_merge(others, high, &all);
    broadcast(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&others);
}

static void spawn(char *program)
{
    char env[] = "env", unset[] = "-u", name[] = "LD_PRELOAD";
    char *arguments[] = {unset, name, program, NULL};
    MPI_Comm child;
    MPI_Comm_spawn(env, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                   MPI_ERRCODES_IGNORE);
    merged(child, 0);
}

/* So many, or as many as there are; those at the front are used, before others
 * are made, or those at the end when all are. */
static int make(MPI_Comm *comms, int most, int front, int end)
{
    int made = 0;
    while (made < most && !MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]))
        if (made++ < front)
            MPI_Barrier(comms[made - 1]);
    for (int i = made - end; i < made; i++) {
        MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_ARE_FATAL);
        MPI_Barrier(comms[i]);
    }
    return made;
}

static void many(void)
{
    static MPI_Comm comms[ALL];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int made = make(comms, ALL, 0, 3); made > 0; made--)
        MPI_Comm_free(&comms[made - 1]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int made = make(comms, MANY, USED, 0); made > 0; made--)
        MPI_Comm_free(&comms[made - 1]);
}

static void expect(const char *what, int is, int wanted)
{
    if (is == wanted)
        return;
    failures++;
    fprintf(stderr, "%s: %d instead of %d\n", what, is, wanted);
}

/* Each rank frees three in another order. */
static void freed_in_any_order(int rank, int size)
{
    MPI_Comm comms[3];
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        broadcast(comms[i]);
    }
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&comms[(i + rank) % 3]);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("sum of ranks", sum, size * (size - 1) / 2);
}

/* Rank 0 frees it, and rank 1 not before a message that rank 0 sends then.
 * Before it, rank 0 has begun a call to which rank 1 comes after it. */
static void freed_late(int rank, int pending)
{
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    int token = rank == 0 ? 7 : 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    broadcast(comm);
    for (int i = 0; i < 3; i++) { /* from the third on it is prepared */
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        broadcast(comm);
    }
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (pending)
        MPI_Ibarrier(comm, &request);
    MPI_Comm_free(&comm);
    if (rank == 0)
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("token", token, rank < 2 ? 7 : 0);
}

static int mappings(void)
{
    int lines = 0, c;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && (c = fgetc(maps)) != EOF)
        lines += c == '\n';
    if (maps)
        fclose(maps);
    return lines;
}

/* It is freed before its requests: its memory is given back when they are
 * freed, too. */
static void kept(void)
{
    int before = 0;
    for (int round = 0; round < 12; round++) {
        MPI_Comm comm;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Comm_free(&comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        for (int i = 0; i < 50; i++) {
            MPI_Barrier(MPI_COMM_WORLD);
            usleep(200);
        }
        if (round == 3)
            before = mappings();
    }
    expect("mappings are many more", mappings() > before + 16, 0);
}

/* Of which a team would cost more than it saves. */
static void short_lived(int size)
{
    for (int round = 0; round < 40; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < 12; i++) {
            int one = 1, all = 0;
            MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
            expect("sum", all, size);
        }
        MPI_Comm_free(&comm);
    }
}

/* One that pays for its team, also where calls are fast. */
static void lasting(int rank)
{
    enum { BYTES = 4 << 20, CALLS = 700, MOST = 16384 };
    char *data = malloc(BYTES);
    double began = MPI_Wtime();
    int lasts = 1;
    for (int i = 0; data && i < MOST && lasts; i++) {
        data[BYTES - 1] = rank == 0 ? (char)i : -1;
        MPI_Bcast(data, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
        expect("data", data[BYTES - 1], (char)i);
        if (i < CALLS || i % CALLS)
            continue;
        lasts = MPI_Wtime() - began < LASTS;
        PMPI_Bcast(&lasts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    free(data);
}

int main(int argc, char **argv)
{
    int all, rank, size;
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Comm parent;
    alarm(SECONDS);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        merged(parent, 1);
    } else if (!strcmp(what, "merged")) {
        spawn(argv[0]);
    } else if (!strcmp(what, "freed")) {
        freed_in_any_order(rank, size);
        freed_late(rank, 0);
        freed_late(rank, 1);
    } else if (!strcmp(what, "kept")) {
        kept();
    } else if (!strcmp(what, "short")) {
        short_lived(size);
    } else if (!strcmp(what, "lasting")) {
        lasting(rank);
    } else {
        many();
    }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s%d failures\n",
               parent == MPI_COMM_NULL ? "" : "spawned: ", all);
    MPI_Finalize();
    return all != 0;
}
