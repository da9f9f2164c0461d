/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Something goes wrong on one rank. No other rank may wait forever, and no data
 * may be wrong. Argument: the fault (see main).
 */
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST    (1 << 18) /* ints of a side */
#define ONE     1         /* the rank at fault */
#define SECONDS 20        /* until the test fails */

static int rank, size, failures, told;
static int *to, *from;

static void check(int good, const char *what)
{
    if (!good)
        fprintf(stderr, "rank %d: %s\n", rank, what);
    failures += !good;
}

/* -------------------------------------------------------------- memory --- */

static long refuse_at; /* this allocation of the libraries fails; 0: none */

/* The functions that those of this program replace; they are called before a
 * sanitizer is ready. */
#ifdef DRAIL_SANITIZE
#define BEHIND(name) __interceptor_##name
#else
#define BEHIND(name) __libc_##name
#endif
void *BEHIND(malloc)(size_t bytes);
void *BEHIND(calloc)(size_t count, size_t bytes);
void *BEHIND(realloc)(void *old, size_t bytes);

#define EARLY __attribute__((no_sanitize("address", "undefined")))

EARLY static int is_refused(const void *caller)
{
    Dl_info library;
    return refuse_at && dladdr(caller, &library) &&
           (strstr(library.dli_fname, "libdcoll") ||
            strstr(library.dli_fname, "libdapl")) &&
           !--refuse_at;
}

EARLY void *malloc(size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL
                                                   : BEHIND(malloc)(bytes);
}

EARLY void *calloc(size_t count, size_t bytes)
{
    return is_refused(__builtin_return_address(0))
               ? NULL
               : BEHIND(calloc)(count, bytes);
}

EARLY void *realloc(void *old, size_t bytes)
{
    return is_refused(__builtin_return_address(0))
               ? NULL
               : BEHIND(realloc)(old, bytes);
}

/* --------------------------------------------------------------- calls --- */

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    told++;
}

/* Errors are returned, and the handler is called. */
static MPI_Comm copy_of(MPI_Comm comm)
{
    MPI_Errhandler handler;
    MPI_Comm copy;
    told = 0;
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(copy, handler);
    MPI_Errhandler_free(&handler);
    return copy;
}

/* Element i of each block that rank r sends. */
static int value(int r, int i)
{
    return 1000 * r + i % 997;
}

static int gather_all(MPI_Comm comm, int n, MPI_Datatype type, int step)
{
    memset(from, 0x55, (size_t)(n * step * size) * sizeof *from);
    for (int i = 0; i < n * step; i++)
        to[i] = value(rank, i);
    int rc = MPI_Allgather(to, n, type, from, n, type, comm);
    for (int r = 0; !rc && r < size; r++)
        for (int i = 0; i < n; i++)
            if (from[(r * n + i) * step] != value(r, i * step))
                check(0, "all-gather: wrong data");
    return rc;
}

static int gather_parts(MPI_Comm comm, int n, MPI_Datatype type, int step)
{
    int counts[64], displs[64];
    for (int r = 0; r < size; r++) {
        counts[r] = n;
        displs[r] = (size - 1 - r) * n;
    }
    for (int i = 0; i < n * step; i++)
        to[i] = value(rank, i);
    int rc = MPI_Allgatherv(to, n, type, from, counts, displs, type, comm);
    for (int r = 0; !rc && r < size; r++)
        for (int i = 0; i < n; i++)
            if (from[(displs[r] + i) * step] != value(r, i * step))
                check(0, "all-gather of parts: wrong data");
    return rc;
}

static int add(MPI_Comm comm, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = rank + i;
    int rc = MPI_Allreduce(to, from, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; !rc && i < n; i++)
        if (from[i] != size * (size - 1) / 2 + size * i)
            check(0, "sum: wrong data");
    return rc;
}

/* Every other int. */
static MPI_Datatype gapped(void)
{
    MPI_Datatype vector, type;
    MPI_Type_vector(1, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    return type;
}

/* Calls that return an error. Those of blocks may also end the others. */
static int all_calls(MPI_Comm comm, MPI_Datatype type)
{
    int bad = !!gather_all(comm, 10, MPI_INT, 1);
    bad += !!gather_all(comm, 10, type, 2);
    bad += !!gather_all(comm, MOST / 2 / size, type, 2);
    bad += !!add(comm, 100);
    bad += !!gather_parts(comm, 100, MPI_INT, 1);
    bad += !!gather_parts(comm, MOST / 2 / size, type, 2);
    return bad;
}

/* -------------------------------------------------------------- faults --- */

/* Lets each allocation fail, and later ones more sparsely. */
static void no_memory(void)
{
    MPI_Datatype type = gapped();
    int refused = 1, rounds = 0, errors = 0;
    for (long nth = 1; refused; nth += 1 + nth / 8, rounds++) {
        MPI_Comm comm = copy_of(MPI_COMM_WORLD);
        refuse_at = rank == ONE ? nth : 0;
        errors += all_calls(comm, type);
        refused = rank == ONE && !refuse_at;
        refuse_at = 0;
        PMPI_Bcast(&refused, 1, MPI_INT, ONE, MPI_COMM_WORLD);
        MPI_Comm_free(&comm);
    }
    check(rounds > 20, "nothing was refused");
    check(errors < rounds, "most are errors of the program's");
    if (rank == ONE)
        printf("%d refused, %d errors\n", rounds - 1, errors);
    MPI_Type_free(&type);
}

/* DRAIL_RAILS names no rail that exists. */
static void no_rail(void)
{
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    if (rank == ONE)
        setenv("DRAIL_RAILS", "none", 1);
    for (int i = 0; i < 3; i++)
        check(!gather_all(comm, 10, MPI_INT, 1), "an error");
    MPI_Comm_free(&comm);
}

/* MPI_IN_PLACE where MPI forbids it. Of MPIs, only Open MPI sees all of it. */
static void bad_place(void)
{
    enum { ALLGATHER, GATHER, SCATTER, BCAST, GATHERV, SCATTERV };
#ifdef OPEN_MPI
    enum { KINDS = SCATTERV + 1 };
#else
    enum { KINDS = ALLGATHER + 1 };
#endif
    int counts[64], displs[64];
    for (int r = 0; r < size; r++) {
        counts[r] = 10;
        displs[r] = 10 * r;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Comm comm = copy_of(MPI_COMM_WORLD);
        void *send = rank == ONE && (kind == GATHER || kind == GATHERV)
                         ? MPI_IN_PLACE
                         : to;
        void *recv = rank == ONE && send == to ? MPI_IN_PLACE : from;
        told = 0;
        if (kind == GATHER)
            MPI_Gather(send, 10, MPI_INT, recv, 10, MPI_INT, 0, comm);
        else if (kind == SCATTER)
            MPI_Scatter(send, 10, MPI_INT, recv, 10, MPI_INT, 0, comm);
        else if (kind == BCAST)
            MPI_Bcast(recv, 10, MPI_INT, 0, comm);
        else if (kind == GATHERV)
            MPI_Gatherv(send, 10, MPI_INT, recv, counts, displs, MPI_INT, 0,
                        comm);
        else if (kind == SCATTERV)
            MPI_Scatterv(send, counts, displs, MPI_INT, recv, 10, MPI_INT, 0,
                         comm);
        else
            MPI_Allgather(send, 10, MPI_INT, recv, 10, MPI_INT, comm);
        check(rank != ONE || told == 1, "the handler was not told");
        PMPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_free(&comm);
    }
}

/* Wrong on all ranks, which all leave, then on one rank. */
static void bad_argument(void)
{
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    check(!gather_all(comm, 10, MPI_INT, 1), "an error");
    /* MPICH returns success after a handler */
    MPI_Allgather(to, -1, MPI_INT, from, -1, MPI_INT, comm);
    MPI_Bcast(to, 1, MPI_INT, size, comm);
    check(told == 2, "the handler was not told twice");
    check(!gather_all(comm, 10, MPI_INT, 1), "an error of the next call");
    int n = rank == ONE ? -1 : 10;
    int rc = MPI_Allgather(to, n, MPI_INT, from, n, MPI_INT, comm);
    check(rank == ONE || rc, "no error");
    check(told == 3, "the handler was not told");
    PMPI_Barrier(MPI_COMM_WORLD);
    check(gather_all(comm, 10, MPI_INT, 1) || rank == ONE, "no error after it");
    MPI_Comm_free(&comm);
    check(!gather_all(MPI_COMM_WORLD, 10, MPI_INT, 1), "elsewhere");
}

/* The other ranks first agree on memory for the trial. */
static void bad_in_agreement(void)
{
    enum { COUNT = 40000 };
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    check(!gather_all(comm, 10, MPI_INT, 1), "an error");
    memset(to, 0, COUNT * sizeof(double));
    int rc = MPI_Allreduce(to, from, COUNT, MPI_DOUBLE,
                           rank == ONE ? MPI_OP_NULL : MPI_SUM, comm);
    check(rank == ONE || rc, "no error");
    check(told == 1, "the handler was not told");
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

static int gather_begun(MPI_Comm comm, int n)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = MPI_Iallgather(to, n, MPI_INT, from, n, MPI_INT, comm, &request);
    return rc || request == MPI_REQUEST_NULL
               ? rc
               : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A persistent request with one start. */
static int start_once(MPI_Request *request)
{
    int rc = MPI_Start(request);
    if (!rc)
        rc = MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
    return rc;
}

static int gather_kept(MPI_Comm comm, int n)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = MPI_Allgather_init(to, n, MPI_INT, from, n, MPI_INT, comm,
                                MPI_INFO_NULL, &request);
    return rc || request == MPI_REQUEST_NULL ? rc : start_once(&request);
}

/* The same for a non-blocking call, which the other ranks wait for. */
static void bad_form(int (*gather)(MPI_Comm comm, int n))
{
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) {
        check(!MPI_Barrier(comm), "an error of a barrier");
        check(!gather(comm, 10), "an error");
    }
    int rc = gather(comm, rank == ONE ? -1 : 10);
    check(rank == ONE || rc, "no error");
    check(told == 1, "the handler was not told");
    PMPI_Barrier(MPI_COMM_WORLD);
    check(gather(comm, 10) || rank == ONE, "no error after it");
    MPI_Comm_free(&comm);
    check(!gather_all(MPI_COMM_WORLD, 10, MPI_INT, 1), "elsewhere");
}

static int sum(MPI_Comm comm, const void *mine)
{
    return MPI_Allreduce(mine, from, 10, MPI_INT, MPI_SUM, comm);
}

static int sum_begun(MPI_Comm comm, const void *mine)
{
    MPI_Request request;
    int rc = MPI_Iallreduce(mine, from, 10, MPI_INT, MPI_SUM, comm, &request);
    return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int sum_kept(MPI_Comm comm, const void *mine)
{
    MPI_Request request;
    int rc = MPI_Allreduce_init(mine, from, 10, MPI_INT, MPI_SUM, comm,
                                MPI_INFO_NULL, &request);
    return rc ? rc : start_once(&request);
}

/* A rank's buffer is NULL, which MPI need not notice. */
static void no_buffer(int (*add_up)(MPI_Comm comm, const void *mine))
{
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) {
        check(!MPI_Barrier(comm), "an error of a barrier");
        check(!add_up(comm, to), "an error");
    }
    int rc = add_up(comm, rank == ONE ? NULL : to);
    check(rc && told == 1, "no error");
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

static void bad_buffer(void)
{
    no_buffer(sum);
}

static void bad_begun(void)
{
    bad_form(gather_begun);
    no_buffer(sum_begun);
}

/* A rank receives less from itself than it sends; only this rank knows. */
static void bad_counts(void)
{
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    MPI_Request request;
    int sent[64], received[64], displs[64];
    for (int r = 0; r < size; r++) {
        sent[r] = received[r] = 5;
        displs[r] = 5 * r;
    }
    received[rank] -= rank == ONE;
    check(!MPI_Alltoallv_init(to, sent, displs, MPI_INT, from, received, displs,
                              MPI_INT, comm, MPI_INFO_NULL, &request),
          "an error of the init");
    check(start_once(&request) && told == 1, "no error of counts");
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

/* All ranks start a request that is under way. */
static void started_twice(void)
{
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
    check(!MPI_Start(&request), "an error of the start");
    check(MPI_Start(&request) && told == 1, "no error of the second start");
    check(!MPI_Wait(&request, MPI_STATUS_IGNORE), "an error of the first");
    MPI_Request_free(&request);
    MPI_Comm_free(&comm);
}

static void bad_kept(void)
{
    bad_form(gather_kept);
    no_buffer(sum_kept);
    bad_counts();
    started_twice();
}

/* Data of one rank can't be packed. */
static void bad_type(void)
{
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type); /* and not committed */
    MPI_Datatype mine = rank == ONE ? type : MPI_INT;
    int n = rank == ONE ? 1 : 2;
    check(!gather_all(comm, 10, MPI_INT, 1), "an error");
    check(MPI_Allgather(to, n, mine, from, 2, MPI_INT, comm) != 0, "no error");
    check(told == 1, "the handler was not told");
    check(gather_all(comm, 10, MPI_INT, 1), "no error after it");
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
}

/* A rank sends more to itself than can be packed, which no other rank knows.
 * The type names the same bytes again and again. */
static void too_long(void)
{
#if MPI_VERSION >= 4
    enum { BYTES = 1 << 20, TIMES = 2049 };
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    MPI_Datatype type;
    MPI_Type_create_hvector(TIMES, BYTES, 0, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Count counts[64] = {0};
    MPI_Aint displs[64] = {0};
    counts[rank] = rank == ONE;
    memset(to, 7, BYTES);
    memset(from, 0, BYTES);
    check(!MPI_Alltoallv_c(to, counts, displs, type, from, counts, displs, type,
                           comm),
          "an error");
    check(rank != ONE || !memcmp(to, from, BYTES), "wrong data");
    check(!gather_parts(comm, 10, MPI_INT, 1), "an error of the next call");
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
#endif
}

/* ... and during trials, when the MPI makes some calls. */
static void bad_in_contest(void)
{
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    MPI_Datatype bad;
    MPI_Type_vector(2, 1, 2, MPI_INT, &bad);
    int below = 0, errors = 0;
    for (int i = 0; i < 50; i++) {
        /* libdcoll makes the sixth one */
        MPI_Datatype mine = i == 5 && rank == ONE ? bad : type;
        int rc = MPI_Gather(to, 1, mine, from, 2, MPI_INT, 0, comm);
        errors += !!rc;
        below += !rc;
    }
    check(below > 0 && (errors > 0 || (rank != ONE && rank != 0)),
          "calls of the gather");
    MPI_Type_free(&type);
    MPI_Type_free(&bad);
    MPI_Comm_free(&comm);
}

/* --------------------------------------------------------- no fault --- */

static MPI_Request kept; /* until MPI_Finalize */

static int end_of_self(MPI_Comm comm, int key, void *value_of, void *extra)
{
    int all[64], mine = rank;
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        check(all[r] == r, "all-gather in MPI_Finalize: wrong data");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm other = *(MPI_Comm *)value_of;
    MPI_Bcast(&mine, 1, MPI_INT, 0, other);
    MPI_Comm_free(&other);
    check(!MPI_Request_free(&kept) && kept == MPI_REQUEST_NULL,
          "a request is not freed in MPI_Finalize");
    printf("%d failures in MPI_Finalize\n", failures);
    fflush(stdout);
    (void)comm;
    (void)key;
    (void)extra;
    return MPI_SUCCESS;
}

/* Calls from within MPI_Finalize. */
static void in_finalize(void)
{
    static MPI_Comm other;
    int key;
    other = copy_of(MPI_COMM_WORLD);
    check(!gather_all(other, 10, MPI_INT, 1), "an error");
    check(!gather_all(MPI_COMM_WORLD, 10, MPI_INT, 1), "an error");
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_self, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &other);
}

/* Sums that have other bits in any other order. */
static void same_bits(void)
{
    double mine[8], first[8], again[8], begun[8];
    MPI_Request request;
    for (int i = 0; i < 8; i++)
        mine[i] = (rank % 2 ? 1e16 : -1e16) / (rank + 1) + 0.1 * (rank + i);
    MPI_Allreduce(mine, first, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 300; i++) {
        MPI_Allreduce(mine, again, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        check(!memcmp(first, again, sizeof first), "other bits");
    }
    /* a side is chosen for sums of integers */
    for (int i = 0; i < 100; i++) {
        MPI_Allreduce(to, from, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Iallreduce(mine, again, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (!i)
            memcpy(begun, again, sizeof begun);
        check(!memcmp(begun, again, sizeof begun), "other bits, begun");
    }
}

/* Blocks that begin beyond 2 GiB. */
static void far_blocks(void)
{
    const size_t far = (size_t)INT_MAX / sizeof(double) + 1;
    const size_t bytes = (far + (size_t)size) * sizeof(double);
    int counts[size], displs[size];
    MPI_Request request;
    double *sent = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    double received[size];
    check(sent != MAP_FAILED, "no address space");
    for (int r = 0; r < size; r++) {
        counts[r] = 1;
        displs[r] = (int)far + r;
        sent[far + (size_t)r] = 10 * rank + r;
    }
    int near[size];
    for (int r = 0; r < size; r++)
        near[r] = r;
    for (int i = 0; i < 10; i++) {
        memset(received, 0, sizeof received);
        check(!MPI_Ialltoallv(sent, counts, displs, MPI_DOUBLE, received,
                              counts, near, MPI_DOUBLE, MPI_COMM_WORLD,
                              &request),
              "an error");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int r = 0; r < size; r++)
            check(received[r] == 10 * r + rank, "wrong data");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    munmap(sent, bytes);
}

static void late(int number)
{
    static const char text[] = "too late\n";
    if (write(2, text, sizeof text - 1))
        _exit(3);
    (void)number;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } faults[] = {
        {"memory", no_memory},      {"rail", no_rail},
        {"argument", bad_argument}, {"place", bad_place},
        {"type", bad_type},         {"agreement", bad_in_agreement},
        {"buffer", bad_buffer},     {"contest", bad_in_contest},
        {"finalize", in_finalize},  {"bits", same_bits},
        {"begun", bad_begun},       {"kept", bad_kept},
        {"long", too_long},         {"far", far_blocks},
    };
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = malloc(MOST * sizeof *to);
    from = malloc(MOST * sizeof *from);
    signal(SIGALRM, late);
    alarm(SECONDS);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        if (argc > 1 && !strcmp(argv[1], faults[i].name))
            faults[i].run();
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    free(to);
    free(from);
    return all != 0;
}
