/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between two neighbours, of many lengths, several at once, and
 * checked to the last byte. Arguments: how many rounds, or, as 10s, how many
 * seconds; and the seed of random lengths, if they are to be random. Tells the
 * longest round of rank 0.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST  400000 /* bytes */
#define AHEAD 3      /* messages under way, each way */

static unsigned char byte_of(int round, int from, int message, int at)
{
    return (unsigned char)(round * 31 + from * 7 + message * 3 + at + at / 251);
}

static uint64_t seed; /* 0: lengths are not random */

/* Short ones are as frequent as long ones. */
static int random_length(uint64_t number)
{
    uint64_t x = (seed << 32 ^ number) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    uint64_t below = (uint64_t)1 << x % 20;
    return (int)((x >> 32) % (below < MOST ? below : MOST));
}

static int length_of(int round, int message)
{
    static const int lengths[] = {0,    1,     8,     63,    64,    65,
                                  4096, 8320,  8321,  30000, 70000, 120000,
                                  7,    16384, 65536, MOST};
    int number = round * AHEAD + message;
    return seed ? random_length((uint64_t)number) : lengths[number % 16];
}

static int wrong_bytes(const unsigned char *data, int round, int from, int m)
{
    int wrong = 0;
    for (int at = 0; at < length_of(round, m); at++)
        wrong += data[at] != byte_of(round, from, m, at);
    return wrong;
}

/* Sends to the next rank, receives from the one before: messages that are bad.
 */
static int exchange(int round, int rank, int size, unsigned char *memory)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, bad = 0;
    MPI_Request requests[2 * AHEAD];
    for (int m = 0; m < AHEAD; m++)
        MPI_Irecv(memory + m * MOST, MOST, MPI_BYTE, before, m, MPI_COMM_WORLD,
                  &requests[m]);
    for (int m = 0; m < AHEAD; m++) {
        unsigned char *out = memory + (AHEAD + m) * MOST;
        for (int at = 0; at < length_of(round, m); at++)
            out[at] = byte_of(round, rank, m, at);
        MPI_Isend(out, length_of(round, m), MPI_BYTE, next, m, MPI_COMM_WORLD,
                  &requests[AHEAD + m]);
    }
    MPI_Waitall(2 * AHEAD, requests, MPI_STATUSES_IGNORE);
    for (int m = 0; m < AHEAD; m++) {
        int wrong = wrong_bytes(memory + m * MOST, round, before, m);
        if (wrong)
            printf("rank %d, round %d: %d of %d bytes are wrong\n", rank, round,
                   wrong, length_of(round, m));
        bad += wrong > 0;
    }
    return bad;
}

/* Is there another round? Rank 0 looks at the clock for all. */
static int goes_on(int round, const char *most, double began)
{
    int on = round < atoi(most);
    if (most[strspn(most, "0123456789")] == 's') {
        on = MPI_Wtime() - began < atoi(most);
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return on;
}

int main(int argc, char **argv)
{
    int rank, size, bad = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unsigned char *memory = malloc(2 * AHEAD * MOST);
    const char *most = argc > 1 ? argv[1] : "100";
    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    double longest = 0, start = MPI_Wtime();
    for (int round = 0; memory && goes_on(round, most, start); round++) {
        double began = MPI_Wtime();
        bad += exchange(round, rank, size, memory);
        double took = MPI_Wtime() - began;
        longest = took > longest ? took : longest;
    }
    bad += !memory;
    MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("longest round: %.1f ms\n%d failures\n", 1e3 * longest, all);
    free(memory);
    MPI_Finalize();
    return all > 0;
}
