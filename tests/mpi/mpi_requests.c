/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program with non-blocking and persistent collectives, which
 * it completes in all ways that MPI has, and checks. Arguments: rounds, and
 * "orderly": only what all MPIs support of persistent collectives; or "large":
 * by the functions with large counts.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_RANKS 8
#define MOST_INTS  (1 << 18) /* of a side */
#define GAP        3         /* ints from one element with gaps to the next */
#define HOLE       0x22222222

enum kind {
    ALLGATHER,
    GATHER,
    SCATTER,
    ALLTOALL,
    BCAST,
    BARRIER,
    ALLTOALLV,
    ALLGATHERV,
    GATHERV,
    SCATTERV,
    KINDS
};

static const char *const names[KINDS] = {
    "allgather", "gather",    "scatter",    "alltoall", "bcast",
    "barrier",   "alltoallv", "allgatherv", "gatherv",  "scatterv"};

/* A collective with its own buffers. */
struct op {
    enum kind kind;
    MPI_Comm comm;
    int rank, size, root;
    int n;              /* elements of a block; irregular: part() of it */
    int gaps, in_place; /* of the type; where possible */
    int salt;           /* of this start */
    MPI_Datatype type;
    int ints; /* of each buffer */
    int *send, *recv;
    int counts[2][MOST_RANKS], displs[2][MOST_RANKS]; /* send, receive */
    MPI_Count wide_counts[2][MOST_RANKS];
    MPI_Aint wide_displs[2][MOST_RANKS];
};

static int world_rank, failures;
static int orderly; /* persistent ones: only what all MPIs support */

static int large; /* by MPI_Iallgather_c and its kind, where there are any */
#if MPI_VERSION >= 4
#define CALL(name, ...) (large ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))
#else
#define CALL(name, ...) name(__VA_ARGS__)
#endif

static void fail(const struct op *o, const char *how)
{
    failures++;
    fprintf(stderr, "rank %d: %s of %d%s%s, root %d, %s: wrong data\n",
            world_rank, names[o->kind], o->n, o->gaps ? " with gaps" : "",
            o->in_place ? " in place" : "", o->root, how);
}

static void check(int good, const char *what)
{
    if (good)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s\n", world_rank, what);
}

/* ---------------------------------------------------------------- data --- */

static int step(const struct op *o)
{
    return o->gaps ? GAP : 1;
}

static int value(const struct op *o, int from, int to, int i)
{
    return (from * 31 + to) * 65537 + i + o->salt * 7919;
}

/* Elements between two ranks. */
static int part(const struct op *o, int from, int to)
{
    switch (o->kind) {
    case ALLTOALLV:
        return (o->n + 3 * from + 5 * to) % (o->n + 1);
    case ALLGATHERV:
    case GATHERV:
        return (o->n + 3 * from) % (o->n + 1);
    case SCATTERV:
        return (o->n + 3 * to) % (o->n + 1);
    default:
        return o->n;
    }
}

/* Blocks have a hole behind them. */
static void places(struct op *o)
{
    int out = 0, in = 0;
    for (int r = 0; r < o->size; r++) {
        o->counts[0][r] = part(o, o->rank, r);
        o->counts[1][r] = part(o, r, o->rank);
        o->displs[0][r] = out;
        o->displs[1][r] = in;
        for (int side = 0; side < 2; side++) {
            o->wide_counts[side][r] = o->counts[side][r];
            o->wide_displs[side][r] = o->displs[side][r];
        }
        out += o->counts[0][r] + 1;
        in += o->counts[1][r] + 1;
    }
}

static int irregular(const struct op *o)
{
    return o->kind >= ALLTOALLV;
}

/* Where block r of a side begins, in ints. */
static int *block(const struct op *o, int side, int *data, int r)
{
    int at = irregular(o) ? o->displs[side][r] : r * o->n;
    return data + at * step(o);
}

static void put(const struct op *o, int *at, int from, int to)
{
    for (int i = 0; i < part(o, from, to); i++)
        at[i * step(o)] = value(o, from, to, i);
}

static int has(const struct op *o, const int *at, int from, int to)
{
    int n = part(o, from, to);
    for (int i = 0; i < n * step(o); i++)
        if (at[i] != (i % step(o) ? HOLE : value(o, from, to, i / step(o))))
            return 0;
    return !irregular(o) || at[n * step(o)] == HOLE;
}

static int is_root(const struct op *o)
{
    return o->rank == o->root;
}

static int in_place(const struct op *o)
{
    switch (o->kind) {
    case ALLGATHER:
    case ALLTOALL:
        return o->in_place;
    case GATHER:
    case SCATTER:
    case GATHERV:
    case SCATTERV:
        return o->in_place && is_root(o);
    default:
        return 0;
    }
}

/* Before a start: what is sent. */
static void fill(struct op *o, int salt)
{
    o->salt = salt;
    for (int i = 0; i < o->ints; i++)
        o->send[i] = o->recv[i] = HOLE;
    switch (o->kind) {
    case ALLGATHER:
    case GATHER:
    case ALLGATHERV:
    case GATHERV:
        put(o, in_place(o) ? block(o, 1, o->recv, o->rank) : o->send, o->rank,
            o->kind == GATHER || o->kind == GATHERV ? o->root : 0);
        break;
    case ALLTOALL:
    case ALLTOALLV:
        for (int r = 0; r < o->size; r++)
            put(o, block(o, 0, in_place(o) ? o->recv : o->send, r), o->rank, r);
        break;
    case SCATTER:
    case SCATTERV:
        for (int r = 0; r < o->size && is_root(o); r++)
            put(o, block(o, 0, o->send, r), o->rank, r);
        break;
    case BCAST:
        if (is_root(o))
            put(o, o->recv, o->root, 0);
        break;
    default:
        break;
    }
}

/* Behind it: what has come. */
static void verify(const struct op *o, const char *how)
{
    int good = 1;
    switch (o->kind) {
    case ALLGATHER:
    case ALLGATHERV:
        for (int r = 0; r < o->size; r++)
            good &= has(o, block(o, 1, o->recv, r), r, 0);
        break;
    case GATHER:
    case GATHERV:
        for (int r = 0; r < o->size && is_root(o); r++)
            good &= has(o, block(o, 1, o->recv, r), r, o->root);
        break;
    case ALLTOALL:
    case ALLTOALLV:
        for (int r = 0; r < o->size; r++)
            good &= has(o, block(o, 1, o->recv, r), r, o->rank);
        break;
    case SCATTER:
    case SCATTERV:
        good = has(o, in_place(o) ? block(o, 0, o->send, o->rank) : o->recv,
                   o->root, o->rank);
        break;
    case BCAST:
        good = has(o, o->recv, o->root, 0);
        break;
    default:
        break;
    }
    if (!good)
        fail(o, how);
}

static void open_op(struct op *o, enum kind kind, MPI_Comm comm, int n,
                    int gaps)
{
    memset(o, 0, sizeof *o);
    o->kind = kind;
    o->comm = comm;
    o->n = n;
    o->gaps = gaps;
    MPI_Comm_rank(comm, &o->rank);
    MPI_Comm_size(comm, &o->size);
    o->root = o->size - 1;
    o->ints = (n + 1) * o->size * step(o);
    o->send = malloc((size_t)o->ints * sizeof *o->send);
    o->recv = malloc((size_t)o->ints * sizeof *o->recv);
    places(o);
}

static void close_op(struct op *o)
{
    free(o->send);
    free(o->recv);
}

/* --------------------------------------------------------------- calls --- */

static MPI_Datatype new_type(const struct op *o)
{
    MPI_Datatype type = MPI_INT;
    if (o->gaps) {
        MPI_Type_create_resized(MPI_INT, 0, GAP * (MPI_Aint)sizeof(int), &type);
        MPI_Type_commit(&type);
    }
    return type;
}

/* Arguments that this rank need not give are wrong on purpose. */
static void begin(struct op *o, MPI_Request *request)
{
    MPI_Datatype type = new_type(o), none = MPI_DATATYPE_NULL;
    const void *from = in_place(o) ? MPI_IN_PLACE : o->send;
    int root = is_root(o), mine = part(o, o->rank, o->root);
    int theirs = part(o, o->root, o->rank);
    void *to = in_place(o) ? MPI_IN_PLACE : o->recv;
    switch (o->kind) {
    case ALLGATHER:
        CALL(MPI_Iallgather, from, o->n, type, o->recv, o->n, type, o->comm,
             request);
        break;
    case GATHER:
        CALL(MPI_Igather, from, o->n, type, root ? o->recv : NULL,
             root ? o->n : -7, root ? type : none, o->root, o->comm, request);
        break;
    case SCATTER:
        CALL(MPI_Iscatter, root ? o->send : NULL, root ? o->n : -7,
             root ? type : none, to, o->n, type, o->root, o->comm, request);
        break;
    case ALLTOALL:
        CALL(MPI_Ialltoall, from, o->n, type, o->recv, o->n, type, o->comm,
             request);
        break;
    case BCAST:
        CALL(MPI_Ibcast, o->recv, o->n, type, o->root, o->comm, request);
        break;
    case ALLTOALLV:
        MPI_Ialltoallv(o->send, o->counts[0], o->displs[0], type, o->recv,
                       o->counts[1], o->displs[1], type, o->comm, request);
        break;
    case ALLGATHERV:
        MPI_Iallgatherv(from, mine, type, o->recv, o->counts[1], o->displs[1],
                        type, o->comm, request);
        break;
    case GATHERV:
        MPI_Igatherv(from, mine, type, root ? o->recv : NULL,
                     root ? o->counts[1] : NULL, root ? o->displs[1] : NULL,
                     root ? type : none, o->root, o->comm, request);
        break;
    case SCATTERV:
        MPI_Iscatterv(root ? o->send : NULL, root ? o->counts[0] : NULL,
                      root ? o->displs[0] : NULL, root ? type : none, to,
                      theirs, type, o->root, o->comm, request);
        break;
    default:
        MPI_Ibarrier(o->comm, request);
    }
    if (o->gaps) /* a type may be freed while it is in use */
        MPI_Type_free(&type);
}

/* With large counts for each rank. */
static void init_large(struct op *o, MPI_Datatype type, MPI_Request *request)
{
#if MPI_VERSION >= 4
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Info info = MPI_INFO_NULL;
    const void *from = in_place(o) ? MPI_IN_PLACE : o->send;
    int root = is_root(o), mine = part(o, o->rank, o->root);
    int theirs = part(o, o->root, o->rank);
    void *to = in_place(o) ? MPI_IN_PLACE : o->recv;
    const MPI_Count *out = o->wide_counts[0], *in = o->wide_counts[1];
    const MPI_Aint *out_at = o->wide_displs[0], *in_at = o->wide_displs[1];
    if (o->kind == ALLTOALLV)
        MPI_Alltoallv_init_c(o->send, out, out_at, type, o->recv, in, in_at,
                             type, o->comm, info, request);
    else if (o->kind == ALLGATHERV)
        MPI_Allgatherv_init_c(from, mine, type, o->recv, in, in_at, type,
                              o->comm, info, request);
    else if (o->kind == GATHERV)
        MPI_Gatherv_init_c(from, mine, type, root ? o->recv : NULL,
                           root ? in : NULL, root ? in_at : NULL,
                           root ? type : none, o->root, o->comm, info, request);
    else
        MPI_Scatterv_init_c(root ? o->send : NULL, root ? out : NULL,
                            root ? out_at : NULL, root ? type : none, to,
                            theirs, type, o->root, o->comm, info, request);
#else
    (void)o, (void)type, (void)request;
#endif
}

static void init(struct op *o, MPI_Request *request)
{
    MPI_Datatype type = new_type(o), none = MPI_DATATYPE_NULL;
    MPI_Info info = MPI_INFO_NULL;
    const void *from = in_place(o) ? MPI_IN_PLACE : o->send;
    int root = is_root(o), mine = part(o, o->rank, o->root);
    int theirs = part(o, o->root, o->rank);
    void *to = in_place(o) ? MPI_IN_PLACE : o->recv;
    switch (large && irregular(o) ? KINDS : o->kind) {
    case KINDS:
        init_large(o, type, request);
        break;
    case ALLGATHER:
        CALL(MPI_Allgather_init, from, o->n, type, o->recv, o->n, type, o->comm,
             info, request);
        break;
    case GATHER:
        CALL(MPI_Gather_init, from, o->n, type, root ? o->recv : NULL,
             root ? o->n : -7, root ? type : none, o->root, o->comm, info,
             request);
        break;
    case SCATTER:
        CALL(MPI_Scatter_init, root ? o->send : NULL, root ? o->n : -7,
             root ? type : none, to, o->n, type, o->root, o->comm, info,
             request);
        break;
    case ALLTOALL:
        CALL(MPI_Alltoall_init, from, o->n, type, o->recv, o->n, type, o->comm,
             info, request);
        break;
    case BCAST:
        CALL(MPI_Bcast_init, o->recv, o->n, type, o->root, o->comm, info,
             request);
        break;
    case ALLTOALLV:
        MPI_Alltoallv_init(o->send, o->counts[0], o->displs[0], type, o->recv,
                           o->counts[1], o->displs[1], type, o->comm, info,
                           request);
        break;
    case ALLGATHERV:
        MPI_Allgatherv_init(from, mine, type, o->recv, o->counts[1],
                            o->displs[1], type, o->comm, info, request);
        break;
    case GATHERV:
        MPI_Gatherv_init(from, mine, type, root ? o->recv : NULL,
                         root ? o->counts[1] : NULL, root ? o->displs[1] : NULL,
                         root ? type : none, o->root, o->comm, info, request);
        break;
    case SCATTERV:
        MPI_Scatterv_init(root ? o->send : NULL, root ? o->counts[0] : NULL,
                          root ? o->displs[0] : NULL, root ? type : none, to,
                          theirs, type, o->root, o->comm, info, request);
        break;
    default:
        MPI_Barrier_init(o->comm, info, request);
    }
    if (o->gaps)
        MPI_Type_free(&type);
}

/* ----------------------------------------------------------- completion --- */

enum {
    BY_WAIT,
    BY_TEST,
    BY_WAITALL,
    BY_TESTALL,
    BY_WAITANY,
    BY_TESTANY,
    BY_WAITSOME,
    BY_TESTSOME,
    BY_STATUS,
    BY_STATUSES,
    WAYS
};
static const char *const ways[WAYS] = {
    "Wait",    "Test",     "Waitall",  "Testall",    "Waitany",
    "Testany", "Waitsome", "Testsome", "get_status", "get_status_all"};

static void one_by_one(int n, MPI_Request *requests, int way, int *seen)
{
    for (int i = n - 1; i >= 0; i--) {
        int flag = way == BY_WAIT;
        if (way == BY_WAIT)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        while (!flag && way == BY_TEST)
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        while (!flag)
            MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        if (way == BY_STATUS)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        seen[i]++;
    }
}

static void any(int n, MPI_Request *requests, int way, int *seen)
{
    for (int i = 0; i < n; i++) {
        int at = MPI_UNDEFINED, flag = way == BY_WAITANY;
        if (flag)
            MPI_Waitany(n, requests, &at, MPI_STATUS_IGNORE);
        while (!flag)
            MPI_Testany(n, requests, &at, &flag, MPI_STATUS_IGNORE);
        if (at != MPI_UNDEFINED)
            seen[at]++;
    }
}

static void some(int n, MPI_Request *requests, int way, int *seen)
{
    int indices[64], count = 0;
    for (int done = 0; done < n && count != MPI_UNDEFINED;) {
        if (way == BY_WAITSOME)
            MPI_Waitsome(n, requests, &count, indices, MPI_STATUSES_IGNORE);
        else
            MPI_Testsome(n, requests, &count, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++)
            seen[indices[i]]++;
        done += count > 0 ? count : 0;
    }
}

static void together(int n, MPI_Request *requests, int way, int *seen)
{
    MPI_Status statuses[64];
    int flag = way == BY_WAITALL;
    if (flag)
        MPI_Waitall(n, requests, statuses);
    while (!flag)
        MPI_Testall(n, requests, &flag, statuses);
    for (int i = 0; i < n; i++)
        seen[i]++;
}

/* Of MPI 4.1. */
static void by_statuses(int n, MPI_Request *requests, int *seen)
{
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    MPI_Status statuses[64];
    int flag = 0, at, count = 0, indices[64];
    while (!flag)
        MPI_Request_get_status_any(n, requests, &at, &flag, statuses);
    check(at >= 0 && at < n, "get_status_any");
    MPI_Request_get_status(requests[at], &flag, MPI_STATUS_IGNORE);
    check(flag, "get_status_any names another");
    for (flag = 0; !flag;)
        MPI_Request_get_status_all(n, requests, &flag, statuses);
    MPI_Request_get_status_some(n, requests, &count, indices, statuses);
    check(count == n, "get_status_some");
#endif
    together(n, requests, BY_WAITALL, seen);
}

/* Each completes once. None is left, but for the first @kept, if persistent. */
static void complete(int n, int kept, MPI_Request *requests, int way,
                     int persistent)
{
    int seen[64] = {0}, index;
    if (way == BY_WAITALL || way == BY_TESTALL)
        together(n, requests, way, seen);
    else if (way == BY_WAITANY || way == BY_TESTANY)
        any(n, requests, way, seen);
    else if (way == BY_WAITSOME || way == BY_TESTSOME)
        some(n, requests, way, seen);
    else if (way == BY_STATUSES)
        by_statuses(n, requests, seen);
    else
        one_by_one(n, requests, way, seen);
    for (int i = 0; i < n; i++)
        check(seen[i] == 1 &&
                  (requests[i] == MPI_REQUEST_NULL) != (persistent && i < kept),
              ways[way]);
    MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
    check(index == MPI_UNDEFINED, "one is left");
}

/* --------------------------------------------------------------- scenes --- */

/* A message to the next rank, and from the one before. */
static int ring(MPI_Comm comm, int *data, MPI_Request *requests)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < MOST_INTS / 2; i++)
        data[i] = rank;
    MPI_Isend(data, MOST_INTS / 2, MPI_INT, (rank + 1) % size, 3, comm,
              &requests[0]);
    MPI_Irecv(data + MOST_INTS / 2, MOST_INTS / 2, MPI_INT,
              (rank + size - 1) % size, 3, comm, &requests[1]);
    return (rank + size - 1) % size;
}

static void check_ring(const int *data, int from, const char *how)
{
    int good = 1;
    for (int i = MOST_INTS / 2; i < MOST_INTS; i++)
        good &= data[i] == from;
    check(good, how);
}

/* All of them at once, and messages. */
static void all_at_once(MPI_Comm comm, int n, int gaps, int place, int rounds)
{
    struct op ops[KINDS];
    MPI_Request requests[KINDS + 2];
    int *data = malloc(MOST_INTS * sizeof *data);
    for (int k = 0; k < KINDS; k++) {
        open_op(&ops[k], k, comm, n, gaps);
        ops[k].in_place = place;
    }
    for (int round = 0; round < rounds; round++) {
        int way = round % WAYS;
        for (int k = 0; k < KINDS; k++) {
            fill(&ops[k], round);
            begin(&ops[k], &requests[k]);
        }
        int from = ring(comm, data, requests + KINDS);
        complete(KINDS + 2, KINDS, requests, way, 0);
        check_ring(data, from, ways[way]);
        for (int k = 0; k < KINDS; k++)
            verify(&ops[k], ways[way]);
        if (round < 4)
            MPI_Barrier(comm); /* prepares later ones */
    }
    for (int k = 0; k < KINDS; k++)
        close_op(&ops[k]);
    free(data);
}

/* Ranks start them in different orders. */
static void start_all(int n, MPI_Request *requests, int round)
{
    if (round % 3 == 2)
        MPI_Startall(n, requests);
    for (int i = 0; i < n && round % 3 != 2; i++) {
        int at = (i * (world_rank % 2 || orderly ? 1 : n - 1) + n - 1) % n;
        MPI_Start(&requests[at]);
        if (world_rank % 3 == 1 && i == 3)
            usleep(1000 * (round % 2 ? 90 : 1));
    }
}

static void persistent(MPI_Comm comm, int n, int gaps, int place, int rounds)
{
    struct op ops[KINDS];
    MPI_Request requests[KINDS + 2];
    int *data = malloc(MOST_INTS * sizeof *data);
    for (int k = 0; k < KINDS; k++) {
        open_op(&ops[k], k, comm, n, gaps);
        ops[k].in_place = place;
        init(&ops[k], &requests[k]);
    }
    for (int round = 0; round < rounds; round++) {
        int way = round % WAYS;
        if ((way == BY_TESTALL || way == BY_STATUSES) &&
            (orderly || ops[0].size == 1))
            continue;
        for (int k = 0; k < KINDS; k++)
            fill(&ops[k], round);
        start_all(KINDS, requests, round);
        int from = ring(comm, data, requests + KINDS);
        complete(KINDS + 2, KINDS, requests, way, 1);
        check_ring(data, from, ways[way]);
        for (int k = 0; k < KINDS; k++)
            verify(&ops[k], ways[way]);
    }
    for (int k = 0; k < KINDS; k++) {
        int at = world_rank % 2 ? k : KINDS - 1 - k;
        MPI_Request_free(&requests[at]);
        check(requests[at] == MPI_REQUEST_NULL, "a freed request stays");
        close_op(&ops[at]);
    }
    free(data);
}

/* More calls than may be under way at once; the latest is waited for first. */
static void many_equal(MPI_Comm comm)
{
    enum { N = 11 };
    struct op ops[N];
    MPI_Request requests[N];
    for (int i = 0; i < N; i++)
        open_op(&ops[i], ALLGATHER, comm, 50, 0);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++) {
            fill(&ops[i], i + round);
            begin(&ops[i], &requests[i]);
        }
        MPI_Wait(&requests[N - 1], MPI_STATUS_IGNORE);
        verify(&ops[N - 1], "the latest of many");
        MPI_Barrier(comm);
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            verify(&ops[i], "many");
    }
    for (int i = 0; i < N; i++)
        close_op(&ops[i]);
}

/* A start must not wait for other ranks: rank 0 starts, and then sends the
 * message that the others need before they start. */
static void begins_early(MPI_Comm comm, int rounds)
{
    struct op o;
    for (int k = 0; k < KINDS; k++) {
        open_op(&o, k, comm, 9, 0);
        for (int round = 0; round < rounds; round++) {
            MPI_Request request;
            int word = round;
            fill(&o, round);
            if (o.rank != 0)
                MPI_Recv(&word, 1, MPI_INT, o.rank - 1, 4, comm,
                         MPI_STATUS_IGNORE);
            begin(&o, &request);
            if (o.rank < o.size - 1)
                MPI_Send(&word, 1, MPI_INT, o.rank + 1, 4, comm);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            verify(&o, "begun early");
            if (round < 3)
                MPI_Barrier(comm);
        }
        close_op(&o);
    }
}

/* A rank completes a collective, and then sends a message to the others. They
 * wait for this message first: the collective must go on meanwhile. */
static void goes_on_elsewhere(MPI_Comm comm, int n)
{
    struct op o;
    for (int k = 0; k < KINDS; k++) {
        open_op(&o, k, comm, n, 0);
        for (int round = 0; round < 6; round++) {
            MPI_Request request;
            int word = round, first = round % o.size;
            fill(&o, round);
            begin(&o, &request);
            if (o.rank == first) {
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                for (int r = 0; r < o.size; r++)
                    if (r != first)
                        MPI_Send(&word, 1, MPI_INT, r, 6, comm);
            } else {
                MPI_Recv(&word, 1, MPI_INT, first, 6, comm, MPI_STATUS_IGNORE);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
            verify(&o, "beside a message");
            if (round < 3)
                MPI_Barrier(comm);
        }
        close_op(&o);
    }
}

/* Half of the ranks start a persistent collective later, after a broadcast of
 * all ranks. */
static void starts_late(MPI_Comm comm)
{
    struct op o, other;
    MPI_Request request;
    open_op(&o, ALLGATHER, comm, 20, 0);
    init(&o, &request);
    for (int round = 0; round < 4; round++) {
        fill(&o, round);
        if (o.rank % 2 == 0)
            MPI_Start(&request);
        open_op(&other, BCAST, comm, 5 + round, 0); /* prepares one */
        fill(&other, round);
        MPI_Bcast(other.recv, other.n, MPI_INT, other.root, comm);
        verify(&other, "beside a start");
        close_op(&other);
        if (o.rank % 2)
            MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        verify(&o, "started late");
    }
    MPI_Request_free(&request);
    close_op(&o);
}

/* A communicator may be freed while its calls are under way, and before its
 * persistent requests. */
static void freed_communicator(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        struct op o[2], p;
        MPI_Request requests[3];
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < 2; i++)
            open_op(&o[i], i ? ALLTOALL : ALLGATHER, comm, 30, 1);
        open_op(&p, ALLGATHER, comm, 10, 0);
        if (round % 2)
            init(&p, &requests[2]);
        for (int i = 0; i < 2; i++)
            for (int again = 0; again < 4; again++) {
                MPI_Barrier(comm);
                fill(&o[i], round + again);
                begin(&o[i], &requests[i]);
                if (again < 3)
                    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            }
        MPI_Comm_free(&comm);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2; i++) {
            verify(&o[i], "of a freed communicator");
            close_op(&o[i]);
        }
        if (round % 2) {
            fill(&p, round);
            MPI_Start(&requests[2]);
            MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
            verify(&p, "persistent, of a freed communicator");
            MPI_Request_free(&requests[2]);
        }
        close_op(&p);
    }
}

/* Many persistent requests are made and freed: a request that one rank has
 * freed may be in use on another. */
static void made_and_freed(MPI_Comm comm)
{
    for (int i = 0; i < 60; i++) {
        struct op o;
        MPI_Request request;
        open_op(&o, i % KINDS, comm, 1 + i, i % 2);
        init(&o, &request);
        fill(&o, i);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        verify(&o, "made and freed");
        MPI_Request_free(&request);
        close_op(&o);
    }
}

/* Sparse exchange: no rank knows how many messages come (T. Hoefler, C.
 * Siebert, A. Lumsdaine, "Scalable Communication Protocols for Dynamic Sparse
 * Data Exchange", 2010). */
static void sparse(MPI_Comm comm, int tag)
{
    int rank, size, came = 0, done = 0, flag;
    MPI_Request sends[2], barrier = MPI_REQUEST_NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 2; i++)
        MPI_Issend(&rank, 1, MPI_INT, (rank + 1 + i) % size, tag, comm,
                   &sends[i]);
    while (!done) {
        MPI_Status status;
        int from;
        MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &flag, &status);
        if (flag) {
            MPI_Recv(&from, 1, MPI_INT, status.MPI_SOURCE, tag, comm,
                     MPI_STATUS_IGNORE);
            came += from == status.MPI_SOURCE;
        }
        if (barrier != MPI_REQUEST_NULL) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(2, sends, &flag, MPI_STATUSES_IGNORE);
            if (flag)
                MPI_Ibarrier(comm, &barrier);
        }
    }
    check(came == 2, "a sparse exchange");
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 100, 3000};
    int all, rounds = argc > 1 ? atoi(argv[1]) : 2 * WAYS;
    MPI_Comm odd;
    orderly = argc > 2 && !strcmp(argv[2], "orderly");
    large = argc > 2 && !strcmp(argv[2], "large");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &odd);
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        int turn = (int)i % 2;
        all_at_once(MPI_COMM_WORLD, counts[i], turn, 0, rounds);
        all_at_once(MPI_COMM_WORLD, counts[i], !turn, 1, rounds);
        persistent(MPI_COMM_WORLD, counts[i], turn, 0, rounds);
        persistent(MPI_COMM_WORLD, counts[i], !turn, 1, rounds);
    }
    all_at_once(odd, 100, 1, 0, rounds);
    persistent(odd, 100, 0, 1, rounds);
    many_equal(MPI_COMM_WORLD);
    begins_early(MPI_COMM_WORLD, 8);
    goes_on_elsewhere(MPI_COMM_WORLD, 20);
    goes_on_elsewhere(MPI_COMM_WORLD, 9000);
    if (!orderly)
        starts_late(MPI_COMM_WORLD);
    if (!orderly)
        freed_communicator(4);
    made_and_freed(MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++) {
        sparse(MPI_COMM_WORLD, 8 + i % 2); /* some may be in the next */
        if (i < 4)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&odd);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    return all != 0;
}
