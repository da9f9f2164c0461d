/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing. Argument: "packing": a block is packed once, the root of a broadcast
 * is not written to, and memory is given back; "long": blocks of 2 GiB and
 * more, and of 4 GiB and more together.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB     (1 << 20)
#define INTS    (4 << 20) /* of a buffer */
#define LONGEST 4097      /* MiB */

static int rank, size, failures, packs;

/* Counts MPI_Pack. */
int PMPI_Pack(const void *in, int count, MPI_Datatype type, void *out,
              int bytes, int *at, MPI_Comm comm)
{
    int (*pack)(const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm);
    *(void **)&pack = dlsym(RTLD_NEXT, "PMPI_Pack");
    packs++;
    return pack(in, count, type, out, bytes, at, comm);
}

static void expect(const char *what, int is)
{
    if (is)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s\n", rank, what);
}

/* Every other one of so many ints. */
static MPI_Datatype with_gaps(int ints)
{
    MPI_Datatype type;
    MPI_Type_vector(ints, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return at;
}

static void packed_once(void)
{
    enum { N = 1000 };
    int counts[64], displs[64];
    int *mine = calloc(2 * N, sizeof *mine);
    int *all = calloc((size_t)size * N, sizeof *all);
    MPI_Datatype type = with_gaps(N);
    for (int i = 0; i < N; i++)
        mine[2 * i] = rank * N + i;
    for (int r = 0; r < size; r++) {
        counts[r] = N;
        displs[r] = r * N;
    }
    packs = 0;
    MPI_Allgatherv(mine, 1, type, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    expect("a block was packed more than once, or not", packs == 1);
    for (int i = 0; i < size * N; i++)
        if (all[i] != i) {
            expect("allgatherv: wrong data", 0);
            break;
        }
    MPI_Type_free(&type);
    free(mine);
    free(all);
}

/* The root's buffer may be read-only. */
static void root_is_read(void)
{
    int *data = map(INTS * sizeof *data), right = 1;
    MPI_Datatype type = with_gaps(1000);
    MPI_Request request;
    for (int i = 0; i < 1000; i++)
        data[2 * i] = rank == 0 ? i : -1;
    if (rank == 0)
        mprotect(data, INTS * sizeof *data, PROT_READ);
    for (int i = 0; i < 3; i++) {
        MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
        MPI_Ibcast(data, 1, type, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(data + 2000, 100, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(data + 2000, INTS - 2000, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++)
        right &= data[2 * i] == i;
    expect("broadcast: wrong data", right);
    MPI_Type_free(&type);
    munmap(data, INTS * sizeof *data);
}

static long resident_mib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * sysconf(_SC_PAGESIZE) / MIB;
}

/* 300 MiB of them, and again. */
static void room_is_given_back(void)
{
    enum { BLOCK = 75 * MIB / 4 }; /* 2 blocks, twice, of 2 ranks */
    size_t bytes = (size_t)size * 2 * BLOCK * sizeof(int);
    int *send = map(bytes), *recv = map(bytes), right = 1;
    MPI_Datatype type = with_gaps(BLOCK / 1000), resized;
    MPI_Type_create_resized(type, 0, 2 * (BLOCK / 1000) * (long)sizeof(int),
                            &resized);
    MPI_Type_commit(&resized);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 1000; i++)
            send[2 * i] = rank + i + again;
        MPI_Alltoall(send, 1000, resized, recv, 1000, resized, MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < 1000; i++)
            right &= recv[2 * i] == i + again;
    }
    expect("alltoall: wrong data", right);
    munmap(send, bytes);
    munmap(recv, bytes);
    long kept = resident_mib();
    if (kept > 220)
        fprintf(stderr, "rank %d: %ld MiB are kept\n", rank, kept);
    expect("memory is kept", kept <= 220);
    MPI_Type_free(&type);
    MPI_Type_free(&resized);
}

static void packing(void)
{
    packed_once();
    root_is_read();
    room_is_given_back();
}

/* The same MiB again and again. */
static char *map_again(int mib, char fill)
{
    int fd = memfd_create("mpi_packing", 0);
    char *at = map((size_t)mib * MIB);
    if (fd < 0 || ftruncate(fd, MIB))
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < mib; i++)
        if (mmap(at + (size_t)i * MIB, MIB, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
            MPI_Abort(MPI_COMM_WORLD, 3);
    close(fd);
    memset(at, fill, MIB);
    return at;
}

/* The last rank sends so many MiB to rank 0, the others a byte. */
static void gather(int mib, int begun)
{
    int counts[64], displs[64], right = 1, last = rank == size - 1;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Type_contiguous(MIB, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int r = 0; r < size; r++) {
        counts[r] = r == size - 1 ? mib : 1;
        displs[r] = r;
    }
    char *data = map_again(last || rank == 0 ? mib + size : 1, (char)rank);
    if (begun) {
        MPI_Igatherv(rank == 0 ? MPI_IN_PLACE : data, counts[rank], type, data,
                     counts, displs, type, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Gatherv(rank == 0 ? MPI_IN_PLACE : data, counts[rank], type, data,
                    counts, displs, type, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; rank == 0 && i < MIB; i++)
        right &= data[i] == size - 1;
    expect(begun ? "igatherv: wrong data" : "gatherv: wrong data", right);
    munmap(data, (size_t)(last || rank == 0 ? mib + size : 1) * MIB);
    MPI_Type_free(&type);
}

/* Rank 1 has rank 0 three times as a neighbour. Each of its blocks is short
 * enough, but not all together. */
static void gather_twins(int mib)
{
    enum { TWINS = 3 };
    const int sources[TWINS] = {0}, destinations[TWINS] = {1, 1, 1};
    const int *weights = destinations;
    const int in = rank == 1 ? TWINS : 0, out = rank == 0 ? TWINS : 0;
    const size_t all = (size_t)(in ? TWINS * mib : mib) * MIB;
    MPI_Comm graph;
    MPI_Datatype type;
    MPI_Type_contiguous(MIB, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, weights, out,
                                   destinations, weights, MPI_INFO_NULL, 0,
                                   &graph);
    char *data = map_again((int)(all / MIB), (char)(rank + 1));
    char *last = data + all - MIB; /* has memory of its own at rank 1 */
    if (in && mmap(last, MIB, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != last)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Neighbor_allgather(data, mib, type, data, mib, type, graph);
    expect("neighbor_allgather: wrong data",
           !in || (data[0] == 1 && last[0] == 1 && last[MIB - 1] == 1));
    munmap(data, all);
    MPI_Type_free(&type);
    MPI_Comm_free(&graph);
}

static void long_blocks(void)
{
    gather(LONGEST, 0);
    gather_twins(LONGEST / 3 + 1);
    for (int i = 0; i < 2; i++) { /* prepared from then on */
        gather(1, 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    gather(LONGEST / 2, 1);
}

int main(int argc, char **argv)
{
    int all;
    alarm(100);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && !strcmp(argv[1], "long"))
        long_blocks();
    else
        packing();
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    return all != 0;
}
