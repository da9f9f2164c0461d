/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program that makes all blocking collectives and checks their
 * results. Arguments: how many rounds of communicators it makes and frees; then
 * "threads": with MPI_THREAD_MULTIPLE; "large": by MPI_Allgather_c and its
 * kind; "long": many times on MPI_COMM_WORLD; "few": only ints there, for
 * machines with fewer cores than ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST    (1 << 20) /* ints of a side */
#define GAP     3         /* ints from one element of a vector to the next */
#define SHORT   1000      /* elements of a block */
#define LARGEST 30000
/* Rounds of all shapes last so many seconds at least: their calls pay for a
 * team on a fast machine, too. Blocks are longer than SHORT in every fourth. */
#define LONG   2.0
#define SELDOM 4

static int world_rank, failures, few;

/* For mpi_late.c: a module finds the functions that its MPI has. */
#define WEAK(name, symbol)                                                     \
    extern void name(void) __asm__(#symbol) __attribute__((weak))
WEAK(status_all, MPI_Request_get_status_all);
WEAK(status_all_below, PMPI_Request_get_status_all);
WEAK(barrier_init, MPI_Barrier_init);
WEAK(barrier_init_below, PMPI_Barrier_init);
int weak_names_are_right(void);

int weak_names_are_right(void)
{
    return !status_all == !status_all_below &&
           !barrier_init == !barrier_init_below;
}

/* By the function with large counts, if that is wanted. */
#if MPI_VERSION >= 4
static int large;
#define CALL(name, ...) (large ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))

static const MPI_Count *wide_counts(int side, const int *counts, MPI_Comm comm)
{
    static MPI_Count wide[2][64];
    int size;
    MPI_Comm_size(comm, &size);
    for (int r = 0; counts && r < size; r++)
        wide[side][r] = counts[r];
    return counts ? wide[side] : NULL;
}

static const MPI_Aint *wide_displs(int side, const int *displs, MPI_Comm comm)
{
    static MPI_Aint wide[2][64];
    int size;
    MPI_Comm_size(comm, &size);
    for (int r = 0; displs && r < size; r++)
        wide[side][r] = displs[r];
    return displs ? wide[side] : NULL;
}
#else
#define CALL(name, ...) name(__VA_ARGS__)
#endif

static int *send, *recv;

/* Functions with counts for each rank. */
static int alltoallv(const int *send_counts, const int *send_displs,
                     const int *recv_counts, const int *recv_displs,
                     MPI_Datatype type, MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (large)
        return MPI_Alltoallv_c(send, wide_counts(0, send_counts, comm),
                               wide_displs(0, send_displs, comm), type, recv,
                               wide_counts(1, recv_counts, comm),
                               wide_displs(1, recv_displs, comm), type, comm);
#endif
    return MPI_Alltoallv(send, send_counts, send_displs, type, recv,
                         recv_counts, recv_displs, type, comm);
}

/* root -1: at all ranks */
static int gatherv(const void *from, int n, MPI_Datatype send_type, void *to,
                   const int *counts, const int *displs, MPI_Datatype recv_type,
                   int root, MPI_Comm comm)
{
#if MPI_VERSION >= 4
    const MPI_Count *wide = wide_counts(0, counts, comm);
    const MPI_Aint *at = wide_displs(0, displs, comm);
    if (large && root < 0)
        return MPI_Allgatherv_c(from, n, send_type, to, wide, at, recv_type,
                                comm);
    if (large)
        return MPI_Gatherv_c(from, n, send_type, to, wide, at, recv_type, root,
                             comm);
#endif
    return root < 0 ? MPI_Allgatherv(from, n, send_type, to, counts, displs,
                                     recv_type, comm)
                    : MPI_Gatherv(from, n, send_type, to, counts, displs,
                                  recv_type, root, comm);
}

static int scatterv(const void *from, const int *counts, const int *displs,
                    MPI_Datatype send_type, void *to, int n,
                    MPI_Datatype recv_type, int root, MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (large)
        return MPI_Scatterv_c(from, wide_counts(0, counts, comm),
                              wide_displs(0, displs, comm), send_type, to, n,
                              recv_type, root, comm);
#endif
    return MPI_Scatterv(from, counts, displs, send_type, to, n, recv_type, root,
                        comm);
}

struct shape { /* of an element: so many ints, GAP ints apart */
    const char *name;
    MPI_Datatype type;
    int ints, step;
};

static int value(int from, int to, int i)
{
    return from * 1000003 + to * 4099 + i;
}

static void check(int good, const char *what, const struct shape *s, int n,
                  int root)
{
    if (good)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s of %d %s, root %d: wrong data\n", world_rank,
            what, n, s->name, root);
}

/* The i-th int of elements at @data. */
static int *at(int *data, const struct shape *s, int i)
{
    return data + i / s->ints * s->ints * s->step + i % s->ints * s->step;
}

static int span(const struct shape *s, int n)
{
    return n * s->ints * s->step;
}

static void fill(int *data, const struct shape *s, int n, int from, int to)
{
    for (int i = 0; i < n * s->ints; i++)
        *at(data, s, i) = value(from, to, i);
}

static int holds(int *data, const struct shape *s, int n, int from, int to)
{
    for (int i = 0; i < n * s->ints; i++)
        if (*at(data, s, i) != value(from, to, i))
            return 0;
    return 1;
}

/* So many elements, and some room behind. */
static void clear(const struct shape *s, int n)
{
    size_t ints = (size_t)span(s, n) + 64;
    memset(send, 0x11, (ints < MOST ? ints : MOST) * sizeof *send);
    memset(recv, 0x22, (ints < MOST ? ints : MOST) * sizeof *recv);
}

/* Nothing between elements may be touched. */
static int gaps_stay(int *data, const struct shape *s, int n, int pattern)
{
    for (int i = 0; s->step > 1 && i < span(s, n); i++)
        if (i % s->step && data[i] != pattern * 0x01010101)
            return 0;
    return 1;
}

static void all_gather(MPI_Comm comm, const struct shape *s, int n, int place)
{
    int rank, size, good = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    clear(s, n * size);
    fill(place ? recv + rank * span(s, n) : send, s, n, rank, 0);
    CALL(MPI_Allgather, place ? MPI_IN_PLACE : send, n, s->type, recv, n,
         s->type, comm);
    for (int r = 0; r < size; r++)
        good &= holds(recv + r * span(s, n), s, n, r, 0);
    check(good && gaps_stay(recv, s, n * size, 0x22), "all-gather", s, n, 0);
}

static void all_to_all(MPI_Comm comm, const struct shape *s, int n, int place)
{
    int rank, size, good = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    clear(s, n * size);
    for (int r = 0; r < size; r++)
        fill((place ? recv : send) + r * span(s, n), s, n, rank, r);
    CALL(MPI_Alltoall, place ? MPI_IN_PLACE : send, n, s->type, recv, n,
         s->type, comm);
    for (int r = 0; r < size; r++)
        good &= holds(recv + r * span(s, n), s, n, r, rank);
    check(good && gaps_stay(recv, s, n * size, 0x22), "all-to-all", s, n, 0);
}

static void gather(MPI_Comm comm, const struct shape *s, int n, int root,
                   int place)
{
    int rank, size, good = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    clear(s, n * size);
    place &= rank == root;
    fill(place ? recv + rank * span(s, n) : send, s, n, rank, 0);
    /* other ranks' receive arguments are ignored */
    CALL(MPI_Gather, place ? MPI_IN_PLACE : send, n, s->type,
         rank == root ? recv : NULL, rank == root ? n : -7,
         rank == root ? s->type : MPI_DATATYPE_NULL, root, comm);
    for (int r = 0; r < size && rank == root; r++)
        good &= holds(recv + r * span(s, n), s, n, r, 0);
    check(good && gaps_stay(recv, s, n * size, 0x22), "gather", s, n, root);
}

static void scatter(MPI_Comm comm, const struct shape *s, int n, int root,
                    int place)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    clear(s, n * size);
    place &= rank == root;
    for (int r = 0; r < size && rank == root; r++)
        fill(send + r * span(s, n), s, n, root, r);
    CALL(MPI_Scatter, rank == root ? send : NULL, rank == root ? n : -7,
         rank == root ? s->type : MPI_DATATYPE_NULL,
         place ? MPI_IN_PLACE : recv, n, s->type, root, comm);
    check(holds(place ? send + rank * span(s, n) : recv, s, n, root, rank) &&
              gaps_stay(recv, s, n, 0x22),
          "scatter", s, n, root);
}

static void broadcast(MPI_Comm comm, const struct shape *s, int n, int root)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    clear(s, n);
    if (rank == root)
        fill(recv, s, n, root, 0);
    CALL(MPI_Bcast, recv, n, s->type, root, comm);
    check(holds(recv, s, n, root, 0) && gaps_stay(recv, s, n, 0x22),
          "broadcast", s, n, root);
}

/* Rank r sends r + to elements to each, blocks backwards with a hole between.
 */
static void irregular(MPI_Comm comm, const struct shape *s, int n)
{
    int rank, size, good = 1, counts[4][64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    clear(s, n + size * (n % 997 * 2 * size + 1));
    for (int r = 0, out = 0, in = 0; r < size; r++) {
        int to = size - 1 - r;
        counts[0][to] = n % 997 * (rank + to);
        counts[1][to] = out;
        counts[2][r] = n % 997 * (rank + r);
        counts[3][r] = in;
        fill(send + span(s, out), s, counts[0][to], rank, to);
        out += counts[0][to] + 1;
        in += counts[2][r] + 1;
    }
    alltoallv(counts[0], counts[1], counts[2], counts[3], s->type, comm);
    for (int r = 0; r < size; r++)
        good &= holds(recv + span(s, counts[3][r]), s, counts[2][r], r, rank) &&
                recv[span(s, counts[3][r] + counts[2][r])] == 0x22222222;
    check(good && gaps_stay(recv, s, n, 0x22), "alltoallv", s, n, 0);
}

/* Rank r has `part(r)` elements in each of these; blocks backwards, with a hole
 * behind each. */
static int part(int r, int n)
{
    return (3 * r + n) % 50;
}

static void places(int size, int n, int *counts, int *displs)
{
    for (int r = size - 1, at = 0; r >= 0; r--) {
        counts[r] = part(r, n);
        displs[r] = at;
        at += counts[r] + 1;
    }
}

/* Block r is there, and the hole behind it untouched. */
static int has_block(const struct shape *s, int displ, int r, int n)
{
    int end = span(s, displ + part(r, n));
    return holds(recv + span(s, displ), s, part(r, n), r, 7) &&
           recv[end] == 0x22222222;
}

static void gather_parts(MPI_Comm comm, const struct shape *s, int n, int root,
                         int place)
{
    int rank, size, good = 1, counts[64], displs[64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    places(size, n, counts, displs);
    clear(s, 51 * size);
    place &= rank == root || root < 0;
    fill(place ? recv + span(s, displs[rank]) : send, s, part(rank, n), rank,
         7);
    const void *from = place ? MPI_IN_PLACE : send;
    int receives = root < 0 || rank == root;
    gatherv(from, part(rank, n), s->type, receives ? recv : NULL,
            receives ? counts : NULL, receives ? displs : NULL,
            receives ? s->type : MPI_DATATYPE_NULL, root, comm);
    for (int r = 0; r < size && (root < 0 || rank == root); r++)
        good &= has_block(s, displs[r], r, n);
    check(good, root < 0 ? "allgatherv" : "gatherv", s, n, root);
}

static void scatter_parts(MPI_Comm comm, const struct shape *s, int n, int root,
                          int place)
{
    int rank, size, counts[64], displs[64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    places(size, n, counts, displs);
    clear(s, 51 * size);
    place &= rank == root;
    for (int r = 0; r < size && rank == root; r++)
        fill(send + span(s, displs[r]), s, counts[r], r, 7);
    /* other ranks' send arguments are ignored */
    scatterv(rank == root ? send : MPI_IN_PLACE, rank == root ? counts : NULL,
             rank == root ? displs : NULL,
             rank == root ? s->type : MPI_DATATYPE_NULL,
             place ? MPI_IN_PLACE : recv, part(rank, n), s->type, root, comm);
    check(place || has_block(s, 0, rank, n), "scatterv", s, n, root);
}

static void all_parts(MPI_Comm comm, const struct shape *s, int n)
{
    int size;
    MPI_Comm_size(comm, &size);
    for (int place = 0; place < 2; place++) {
        gather_parts(comm, s, n, -1, place);
        for (int root = 0; root < size; root++) {
            gather_parts(comm, s, n, root, place);
            scatter_parts(comm, s, n, root, place);
        }
    }
}

static void all_calls(MPI_Comm comm, const struct shape *s, int n)
{
    int size;
    MPI_Comm_size(comm, &size);
    if (span(s, n) * size > MOST)
        return;
    for (int place = 0; place < 2; place++) {
        all_gather(comm, s, n, place);
        all_to_all(comm, s, n, place);
        for (int root = 0; root<size; root += size> 2 ? size - 2 : 1) {
            gather(comm, s, n, root, place);
            scatter(comm, s, n, root, place);
            broadcast(comm, s, n, root);
        }
    }
    irregular(comm, s, n);
    all_parts(comm, s, n);
    MPI_Barrier(comm);
}

/* Affine maps x -> a x + b, one after another: does not commute. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int *first = in, *then = inout;
    for (int i = 0; i < *length; i++, first += 2, then += 2) {
        then[1] = first[0] * then[1] + first[1];
        then[0] *= first[0];
    }
    (void)type;
}

static void reduce(MPI_Comm comm, int n, int place)
{
    static const struct shape ints = {"ints", MPI_INT, 1, 1};
    int rank, size, good = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    clear(&ints, n);
    fill(place ? recv : send, &ints, n, rank, 0);
    CALL(MPI_Allreduce, place ? MPI_IN_PLACE : send, recv, n, MPI_INT, MPI_SUM,
         comm);
    for (int i = 0; i < n; i++)
        good &= recv[i] == size * (size - 1) / 2 * 1000003 + size * i;
    for (int root = 0; root < size; root++) {
        int in_place = place && rank == root;
        fill(in_place ? recv : send, &ints, n, rank, 0);
        CALL(MPI_Reduce, in_place ? MPI_IN_PLACE : send,
             rank == root ? recv : NULL, n, MPI_INT, MPI_MAX, root, comm);
        for (int i = 0; i < n && rank == root; i++)
            good &= recv[i] == value(size - 1, 0, i);
    }
    check(good && recv[n] == 0x22222222, "reduction", &ints, n, 0);
}

static void reduce_by_own(MPI_Comm comm)
{
    static const struct shape pairs = {"pairs", MPI_2INT, 2, 1};
    int rank, size, wanted[2] = {1, 0};
    MPI_Op op;
    MPI_Datatype type;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    clear(&pairs, 1);
    send[0] = rank + 2;
    send[1] = 3 * rank + 1;
    CALL(MPI_Allreduce, send, recv, 1, type, op, comm);
    for (int r = size - 1; r >= 0; r--) {
        wanted[1] = (r + 2) * wanted[1] + 3 * r + 1;
        wanted[0] *= r + 2;
    }
    check(!memcmp(recv, wanted, sizeof wanted), "own reduction", &pairs, 1, 0);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* Two types with the same signature, on different ranks: contiguous, and with
 * gaps. */
static void mixed(MPI_Comm comm, const struct shape *plain,
                  const struct shape *gaps)
{
    int rank, size, n = 20, good = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    clear(gaps, n * size);
    const struct shape *mine = rank % 2 ? gaps : plain;
    int count = n / mine->ints;
    fill(send, mine, count, rank, 0);
    CALL(MPI_Allgather, send, count, mine->type, recv, n, plain->type, comm);
    for (int r = 0; r < size; r++)
        good &= holds(recv + r * n, plain, n, r, 0);
    check(good, "all-gather of mixed types", mine, count, 0);
}

/* The sender of a long message must make progress with it while it waits in a
 * collective: the receiver enters the collective only after the message. With
 * gaps, so that the receiver can't fetch the message alone. */
static void owes_a_message(MPI_Comm comm)
{
    static const struct shape ints = {"ints", MPI_INT, 1, 1};
    int rank, size, wrong = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype every_other;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Type_vector(MOST / 2, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    int *data = malloc(MOST * sizeof *data);
    for (int i = 0; i < MOST; i++)
        data[i] = rank == 0 ? i : 0;
    if (rank == 0)
        MPI_Isend(data, 1, every_other, size - 1, 5, comm, &request);
    if (rank == size - 1)
        MPI_Recv(data, 1, every_other, 0, 5, comm, MPI_STATUS_IGNORE);
    all_gather(comm, &ints, 100, 0);
    for (int i = 0; i < MOST && rank == size - 1; i += 2)
        wrong += data[i] != i;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(wrong == 0, "a message", &ints, MOST / 2, 0);
    free(data);
    MPI_Type_free(&every_other);
}

static void make_and_free(int rounds)
{
    static const struct shape ints = {"ints", MPI_INT, 1, 1};
    for (int i = 0; i < rounds; i++) {
        MPI_Comm copy, part;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_split(copy, world_rank % (1 + i % 3), -world_rank, &part);
        all_gather(copy, &ints, 1 + i, 0);
        all_to_all(part, &ints, 1 + i, 0);
        MPI_Comm_free(&copy);
        broadcast(part, &ints, 10, 0);
        MPI_Comm_free(&part);
    }
}

/* Blocks of so many elements at most. */
static void all_shapes(MPI_Comm comm, int most)
{
    static const int counts[] = {0, 1, 7, SHORT, LARGEST};
    MPI_Datatype vector, resized, five, pairs;
    MPI_Type_vector(4, 1, GAP, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 4 * GAP * (MPI_Aint)sizeof(int),
                            &resized);
    MPI_Type_contiguous(5, MPI_INT, &five);
    MPI_Type_dup(five, &pairs);
    MPI_Type_commit(&resized);
    MPI_Type_commit(&pairs);
    const struct shape shapes[] = {{"ints", MPI_INT, 1, 1},
                                   {"fives", pairs, 5, 1},
                                   {"vectors", resized, 4, GAP}};
    for (unsigned i = 0; i < (few ? 1 : sizeof shapes / sizeof *shapes); i++)
        for (unsigned n = 0;
             n < sizeof counts / sizeof *counts && counts[n] <= most; n++)
            all_calls(comm, &shapes[i], counts[n]);
    mixed(comm, &shapes[0], &shapes[2]);
    for (int n = 0; n <= most; n = 7 * n + 1) {
        reduce(comm, n, 0);
        reduce(comm, n, 1);
    }
    reduce_by_own(comm);
    MPI_Type_free(&vector);
    MPI_Type_free(&resized);
    MPI_Type_free(&five);
    MPI_Type_free(&pairs);
}

/* One round, and others until rank 0's clock has gone on by `least`. */
static void rounds(double least)
{
    double began = MPI_Wtime(), passed = 0;
    for (int i = 0; i == 0 || passed < least; i++) {
        all_shapes(MPI_COMM_WORLD, i % SELDOM ? SHORT : LARGEST);
        passed = MPI_Wtime() - began;
        MPI_Bcast(&passed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int all, provided, threads = argc > 2 && !strcmp(argv[2], "threads");
    MPI_Comm odd, backwards;
    few = argc > 2 && !strcmp(argv[2], "few");
#if MPI_VERSION >= 4
    large = argc > 2 && !strcmp(argv[2], "large");
#endif
    MPI_Init_thread(&argc, &argv,
                    threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    send = malloc(MOST * sizeof *send);
    recv = malloc(MOST * sizeof *recv);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &odd);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &backwards);

    rounds(argc > 2 && !strcmp(argv[2], "long") ? LONG : 0);
    if (!few) {
        all_shapes(odd, LARGEST);
        all_shapes(backwards, LARGEST);
        all_shapes(MPI_COMM_SELF, LARGEST);
    }
    owes_a_message(MPI_COMM_WORLD);
    make_and_free(argc > 1 ? atoi(argv[1]) : 3);

    MPI_Comm_free(&odd); /* backwards lives until MPI_Finalize */
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%d failures\n", all);
    free(send);
    free(recv);
    MPI_Finalize();
    return all != 0;
}
