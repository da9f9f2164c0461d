/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls with one count per rank, or between neighbours, with a wrong argument
 * on one rank: counts that differ, are negative, or have no buffer; a graph in
 * which one rank sends what the other one does not expect. The ranks concerned
 * get an error that names a rank or an argument, nothing is written, and no
 * rank waits forever.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RANKS = 3,
    COUNT = 4,
    MOST = 1024,
    FAULTY = 1,
    SECONDS = 60,
    /* The MPI below makes the first calls that do not block: so many right
     * ones, each with a barrier, prepare them. */
    PREPARED = 5
};

static int rank, failures;
static int send[MOST], recv[MOST];
static char text[MPI_MAX_ERROR_STRING];

static void check(const char *name, int good, const char *what)
{
    if (!good)
        fprintf(stderr, "rank %d: %s: %s: %s\n", rank, name, what, text);
    failures += !good;
}

static int counts[RANKS], displs[RANKS];

static void set_counts(int of_rank_0)
{
    counts[0] = of_rank_0;
    counts[1] = counts[2] = COUNT;
    for (int r = 1; r < RANKS; r++)
        displs[r] = displs[r - 1] + (counts[r - 1] > 0 ? counts[r - 1] : 0);
}

static int is_untouched(void)
{
    for (int i = 0; i < MOST; i++)
        if (recv[i] != -1)
            return 0;
    return 1;
}

/* ---------------------------------------------------------------- calls --- */

typedef int make(MPI_Comm comm, int faulty);

/* The first error of a call that has begun, or of its end. */
static int ended(int rc, MPI_Request *request)
{
    return rc ? rc : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int different_reduced(MPI_Comm comm, int faulty)
{
    set_counts(COUNT + faulty);
    return MPI_Reduce_scatter(send, recv, counts, MPI_INT, MPI_SUM, comm);
}

static int negative_reduced(MPI_Comm comm, int faulty)
{
    set_counts(faulty ? -1 : COUNT);
    return MPI_Reduce_scatter(send, recv, counts, MPI_INT, MPI_SUM, comm);
}

static int null_reduced(MPI_Comm comm, int faulty)
{
    set_counts(COUNT);
    return MPI_Reduce_scatter(faulty ? NULL : send, recv, counts, MPI_INT,
                              MPI_SUM, comm);
}

static int ireduce(MPI_Comm comm, int of_rank_0, const void *from)
{
    MPI_Request request;
    for (int again = 0; again < PREPARED; again++) {
        set_counts(COUNT);
        MPI_Ireduce_scatter(send, recv, counts, MPI_INT, MPI_SUM, comm,
                            &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(comm);
    }
    memset(recv, -1, sizeof recv);
    set_counts(of_rank_0);
    return ended(MPI_Ireduce_scatter(from, recv, counts, MPI_INT, MPI_SUM, comm,
                                     &request),
                 &request);
}

static int negative_ireduced(MPI_Comm comm, int faulty)
{
    return ireduce(comm, faulty ? -1 : COUNT, send);
}

static int null_ireduced(MPI_Comm comm, int faulty)
{
    return ireduce(comm, COUNT, faulty ? NULL : send);
}

/* Rank 0 sends COUNT elements; one rank expects more. */
static int different_gathered(MPI_Comm comm, int faulty)
{
    set_counts(COUNT + faulty);
    return MPI_Allgatherv(send, COUNT, MPI_INT, recv, counts, displs, MPI_INT,
                          comm);
}

/* The same when the counts have come before. */
static int different_later(MPI_Comm comm, int faulty)
{
    for (int again = 0; again < 2; again++)
        different_gathered(comm, 0);
    memset(recv, -1, sizeof recv);
    return different_gathered(comm, faulty);
}

/* A rank sends less than all ranks expect of it, itself too. */
static int short_later(MPI_Comm comm, int faulty)
{
    for (int again = 0; again < 2; again++)
        different_gathered(comm, 0);
    return MPI_Allgatherv(send, COUNT - faulty, MPI_INT, recv, counts, displs,
                          MPI_INT, comm);
}

static int negative_gathered(MPI_Comm comm, int faulty)
{
    set_counts(faulty ? -1 : COUNT);
    return MPI_Allgatherv(send, COUNT, MPI_INT, recv, counts, displs, MPI_INT,
                          comm);
}

/* To rank 0, which expects COUNT elements of each rank. */
static int gather(MPI_Comm comm, int count, const void *from)
{
    set_counts(COUNT);
    return MPI_Gatherv(from, count, MPI_INT, recv, counts, displs, MPI_INT, 0,
                       comm);
}

static int short_gathered(MPI_Comm comm, int faulty)
{
    return gather(comm, COUNT - faulty, send);
}

static int negative_sent(MPI_Comm comm, int faulty)
{
    return gather(comm, faulty ? -1 : COUNT, send);
}

static int null_gathered(MPI_Comm comm, int faulty)
{
    return gather(comm, COUNT, faulty ? NULL : send);
}

/* Rank 0 sends COUNT elements to each; one rank expects more. */
static int different_scattered(MPI_Comm comm, int faulty)
{
    set_counts(COUNT);
    return MPI_Scatterv(send, counts, displs, MPI_INT, recv, COUNT + faulty,
                        MPI_INT, 0, comm);
}

/* By the root. */
static int negative_scattered(MPI_Comm comm, int faulty)
{
    set_counts(faulty ? -1 : COUNT);
    return MPI_Scatterv(send, counts, displs, MPI_INT, recv, COUNT, MPI_INT,
                        FAULTY, comm);
}

static int null_scattered(MPI_Comm comm, int faulty)
{
    set_counts(COUNT);
    return MPI_Scatterv(faulty ? NULL : send, counts, displs, MPI_INT, recv,
                        COUNT, MPI_INT, FAULTY, comm);
}

/* A type of two elements with gaps: its blocks are packed. Sets the counts to
 * one such block of each rank. */
static MPI_Datatype with_gaps(void)
{
    MPI_Datatype gaps;
    set_counts(COUNT);
    for (int r = 0; r < RANKS; r++)
        counts[r] = 2;
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    return gaps;
}

static int null_packed(MPI_Comm comm, int faulty)
{
    MPI_Datatype gaps = with_gaps();
    int rc = MPI_Gatherv(faulty ? NULL : send, 1, gaps, recv, counts, displs,
                         MPI_INT, 0, comm);
    MPI_Type_free(&gaps);
    return rc;
}

static int null_unpacked(MPI_Comm comm, int faulty)
{
    MPI_Datatype gaps = with_gaps();
    int rc = MPI_Scatterv(send, counts, displs, MPI_INT, faulty ? NULL : recv,
                          1, gaps, 0, comm);
    MPI_Type_free(&gaps);
    return rc;
}

static int null_packed_block(MPI_Comm comm, int faulty)
{
    MPI_Datatype gaps = with_gaps();
    int rc =
        MPI_Allgather(faulty ? NULL : send, 1, gaps, recv, 2, MPI_INT, comm);
    MPI_Type_free(&gaps);
    return rc;
}

/* The same types far behind, and before, where a buffer would begin: they may
 * be addresses behind MPI_BOTTOM, which is NULL, too. */
enum { FAR_BEHIND = 1 << 16, FAR_BEFORE = -(1 << 16) };

static MPI_Datatype with_gaps_at(MPI_Aint place)
{
    MPI_Datatype gaps, moved;
    const int one = 1;
    gaps = with_gaps();
    MPI_Type_create_hindexed(1, &one, &place, gaps, &moved);
    MPI_Type_commit(&moved);
    MPI_Type_free(&gaps);
    return moved;
}

static int gather_at(MPI_Comm comm, int faulty, MPI_Aint place)
{
    MPI_Datatype gaps = with_gaps_at(place);
    int rc = MPI_Gatherv(faulty ? NULL : (char *)send - place, 1, gaps, recv,
                         counts, displs, MPI_INT, 0, comm);
    MPI_Type_free(&gaps);
    return rc;
}

static int null_packed_behind(MPI_Comm comm, int faulty)
{
    return gather_at(comm, faulty, FAR_BEHIND);
}

static int null_packed_before(MPI_Comm comm, int faulty)
{
    return gather_at(comm, faulty, FAR_BEFORE);
}

static int broadcast_at(MPI_Comm comm, int faulty, MPI_Aint place)
{
    MPI_Datatype gaps = with_gaps_at(place);
    int rc = MPI_Bcast(faulty ? NULL : (char *)recv - place, 1, gaps, 0, comm);
    MPI_Type_free(&gaps);
    return rc;
}

static int null_bcast_behind(MPI_Comm comm, int faulty)
{
    return broadcast_at(comm, faulty, FAR_BEHIND);
}

static int null_bcast_before(MPI_Comm comm, int faulty)
{
    return broadcast_at(comm, faulty, FAR_BEFORE);
}

/* Blocks of rank 1 far behind, or before, its buffer. */
static int exchange_at(MPI_Comm comm, int faulty, int place)
{
    MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
    int places[RANKS];
    set_counts(COUNT);
    for (int r = 0; r < RANKS; r++)
        places[r] = place + r * COUNT * (int)sizeof(int);
    return MPI_Alltoallw(faulty ? NULL : (char *)send - place, counts, places,
                         types, recv, counts, displs, types, comm);
}

static int null_exchanged_behind(MPI_Comm comm, int faulty)
{
    return exchange_at(comm, faulty, FAR_BEHIND);
}

static int null_exchanged_before(MPI_Comm comm, int faulty)
{
    return exchange_at(comm, faulty, FAR_BEFORE);
}

static int different_scans(MPI_Comm comm, int faulty)
{
    return MPI_Scan(send, recv, COUNT + faulty, MPI_INT, MPI_SUM, comm);
}

static int null_exscan(MPI_Comm comm, int faulty)
{
    return MPI_Exscan(faulty ? NULL : send, recv, COUNT, MPI_INT, MPI_SUM,
                      comm);
}

static int negative_scan(MPI_Comm comm, int faulty)
{
    return MPI_Scan(send, recv, faulty ? -1 : COUNT, MPI_INT, MPI_SUM, comm);
}

static int negative_block(MPI_Comm comm, int faulty)
{
    return MPI_Allgather(send, faulty ? -1 : COUNT, MPI_INT, recv, COUNT,
                         MPI_INT, comm);
}

/* A rank sends itself less, or more, than it receives from itself. */
static int less_to_itself(MPI_Comm comm, int faulty)
{
    return MPI_Alltoall(send, COUNT - faulty, MPI_INT, recv, COUNT, MPI_INT,
                        comm);
}

static int more_to_itself(MPI_Comm comm, int faulty)
{
    return MPI_Alltoall(send, COUNT + faulty, MPI_INT, recv, COUNT, MPI_INT,
                        comm);
}

static int less_of_itself(MPI_Comm comm, int faulty)
{
    return MPI_Allgather(send, COUNT + faulty, MPI_INT, recv, COUNT, MPI_INT,
                         comm);
}

static int less_of_root(MPI_Comm comm, int faulty)
{
    return MPI_Gather(send, COUNT + faulty, MPI_INT, recv, COUNT, MPI_INT,
                      FAULTY, comm);
}

static int less_to_root(MPI_Comm comm, int faulty)
{
    return MPI_Scatter(send, COUNT, MPI_INT, recv, COUNT - faulty, MPI_INT,
                       FAULTY, comm);
}

static int iless_to_itself(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    for (int again = 0; again < PREPARED; again++) {
        MPI_Ialltoall(send, COUNT, MPI_INT, recv, COUNT, MPI_INT, comm,
                      &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(comm);
    }
    memset(recv, -1, sizeof recv);
    return ended(MPI_Ialltoall(send, COUNT - faulty, MPI_INT, recv, COUNT,
                               MPI_INT, comm, &request),
                 &request);
}

static int different_blocks(MPI_Comm comm, int faulty)
{
    return MPI_Reduce_scatter_block(send, recv, COUNT + faulty, MPI_INT,
                                    MPI_SUM, comm);
}

#if MPI_VERSION >= 4
/* The same when requests are made. */
static int different_gather_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    set_counts(COUNT);
    return MPI_Gatherv_init(send, COUNT - faulty, MPI_INT, recv, counts, displs,
                            MPI_INT, 0, comm, MPI_INFO_NULL, &request);
}

static int different_scatter_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    set_counts(COUNT);
    return MPI_Scatterv_init(send, counts, displs, MPI_INT, recv,
                             COUNT + faulty, MPI_INT, 0, comm, MPI_INFO_NULL,
                             &request);
}

static int different_allgather_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    set_counts(COUNT + faulty);
    return MPI_Allgatherv_init(send, COUNT, MPI_INT, recv, counts, displs,
                               MPI_INT, comm, MPI_INFO_NULL, &request);
}

/* A rank sends less than all ranks expect of it, itself too. */
static int short_allgather_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    set_counts(COUNT);
    return MPI_Allgatherv_init(send, COUNT - faulty, MPI_INT, recv, counts,
                               displs, MPI_INT, comm, MPI_INFO_NULL, &request);
}

static int less_to_itself_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    return MPI_Alltoall_init(send, COUNT - faulty, MPI_INT, recv, COUNT,
                             MPI_INT, comm, MPI_INFO_NULL, &request);
}

static int negative_scan_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    return MPI_Scan_init(send, recv, faulty ? -1 : COUNT, MPI_INT, MPI_SUM,
                         comm, MPI_INFO_NULL, &request);
}

/* No rank sends anything, but the root expects something. */
static int empty_gather_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    set_counts(faulty ? COUNT : 0);
    return MPI_Gatherv_init(send, 0, MPI_INT, recv, counts, displs, MPI_INT,
                            FAULTY, comm, MPI_INFO_NULL, &request);
}

static int negative_gather_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    set_counts(COUNT);
    return MPI_Gatherv_init(send, faulty ? -1 : COUNT, MPI_INT, recv, counts,
                            displs, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
}

static int null_scatter_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    set_counts(COUNT);
    return MPI_Scatterv_init(faulty ? NULL : send, counts, displs, MPI_INT,
                             recv, COUNT, MPI_INT, FAULTY, comm, MPI_INFO_NULL,
                             &request);
}
#endif

static int negative_exchanged(MPI_Comm comm, int faulty)
{
    MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
    set_counts(faulty ? -1 : COUNT);
    return MPI_Alltoallw(send, counts, displs, types, recv, counts, displs,
                         types, comm);
}

/* A ring, in which rank FAULTY has one neighbour less. */
static int asymmetric(MPI_Comm comm, int in, int out)
{
    MPI_Comm ring;
    const int before = (rank + RANKS - 1) % RANKS, behind = (rank + 1) % RANKS;
    const int weight = 1;
    MPI_Dist_graph_create_adjacent(comm, in, &before, &weight, out, &behind,
                                   &weight, MPI_INFO_NULL, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    int rc =
        MPI_Neighbor_alltoall(send, COUNT, MPI_INT, recv, COUNT, MPI_INT, ring);
    MPI_Comm_free(&ring);
    return rc;
}

static int unexpected(MPI_Comm comm, int faulty)
{
    return asymmetric(comm, !faulty, 1);
}

static int missing(MPI_Comm comm, int faulty)
{
    return asymmetric(comm, 1, !faulty);
}

/* A ring whose calls get these counts: sent to the next rank, and expected of
 * the previous one. */
typedef int call_of_ring(MPI_Comm ring, const void *from, int sent,
                         int expected);

static int on_ring(MPI_Comm comm, call_of_ring *call, const void *from,
                   int sent, int expected)
{
    MPI_Comm ring;
    const int before = (rank + RANKS - 1) % RANKS, behind = (rank + 1) % RANKS;
    const int weight = 1;
    MPI_Dist_graph_create_adjacent(comm, 1, &before, &weight, 1, &behind,
                                   &weight, MPI_INFO_NULL, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    int rc = call(ring, from, sent, expected);
    MPI_Comm_free(&ring);
    return rc;
}

static int ring_allgatherv(MPI_Comm ring, const void *from, int sent,
                           int expected)
{
    const int at = 0;
    return MPI_Neighbor_allgatherv(from, sent, MPI_INT, recv, &expected, &at,
                                   MPI_INT, ring);
}

static int ring_alltoallv(MPI_Comm ring, const void *from, int sent,
                          int expected)
{
    const int at = 0;
    return MPI_Neighbor_alltoallv(from, &sent, &at, MPI_INT, recv, &expected,
                                  &at, MPI_INT, ring);
}

static int ring_alltoallw(MPI_Comm ring, const void *from, int sent,
                          int expected)
{
    const MPI_Aint at = 0;
    const MPI_Datatype type = MPI_INT;
    return MPI_Neighbor_alltoallw(from, &sent, &at, &type, recv, &expected, &at,
                                  &type, ring);
}

static int ring_ialltoallv(MPI_Comm ring, const void *from, int sent,
                           int expected)
{
    const int at = 0, right = COUNT;
    MPI_Request request;
    for (int again = 0; again < PREPARED; again++) {
        MPI_Ineighbor_alltoallv(send, &right, &at, MPI_INT, recv, &right, &at,
                                MPI_INT, ring, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(ring);
    }
    memset(recv, -1, sizeof recv);
    return ended(MPI_Ineighbor_alltoallv(from, &sent, &at, MPI_INT, recv,
                                         &expected, &at, MPI_INT, ring,
                                         &request),
                 &request);
}

static int imore_to_neighbor(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_ialltoallv, send, COUNT + faulty, COUNT);
}

static int inegative_to_neighbor(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_ialltoallv, send, faulty ? -1 : COUNT, COUNT);
}

static int inull_to_neighbor(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_ialltoallv, faulty ? NULL : send, COUNT, COUNT);
}

#if MPI_VERSION >= 4
static int started(int rc, MPI_Request *request)
{
    return rc ? rc : ended(MPI_Start(request), request);
}

static int different_reduced_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    set_counts(COUNT + faulty);
    return started(MPI_Reduce_scatter_init(send, recv, counts, MPI_INT, MPI_SUM,
                                           comm, MPI_INFO_NULL, &request),
                   &request);
}

static int negative_exchanged_init(MPI_Comm comm, int faulty)
{
    MPI_Request request;
    MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
    set_counts(faulty ? -1 : COUNT);
    return started(MPI_Alltoallw_init(send, counts, displs, types, recv, counts,
                                      displs, types, comm, MPI_INFO_NULL,
                                      &request),
                   &request);
}

static int ring_alltoallv_init(MPI_Comm ring, const void *from, int sent,
                               int expected)
{
    const int at = 0;
    MPI_Request request;
    return started(MPI_Neighbor_alltoallv_init(from, &sent, &at, MPI_INT, recv,
                                               &expected, &at, MPI_INT, ring,
                                               MPI_INFO_NULL, &request),
                   &request);
}

static int more_to_neighbor_init(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_alltoallv_init, send, COUNT + faulty, COUNT);
}

static int negative_to_neighbor_init(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_alltoallv_init, send, faulty ? -1 : COUNT, COUNT);
}

static int null_to_neighbor_init(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_alltoallv_init, faulty ? NULL : send, COUNT,
                   COUNT);
}
#endif

static int more_to_neighbor(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_alltoallv, send, COUNT + faulty, COUNT);
}

static int more_of_neighbor(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_allgatherv, send, COUNT, COUNT + faulty);
}

static int negative_to_neighbor(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_alltoallw, send, faulty ? -1 : COUNT, COUNT);
}

static int negative_of_neighbor(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_allgatherv, send, COUNT, faulty ? -1 : COUNT);
}

static int null_to_neighbor(MPI_Comm comm, int faulty)
{
    return on_ring(comm, ring_alltoallv, faulty ? NULL : send, COUNT, COUNT);
}

static const struct wrong {
    const char *name;
    make *make;
    int concerned;     /* the rank that gets an error; -1: all */
    const char *part;  /* of its sentence, … */
    const char *other; /* … and that of the other ranks; NULL: they succeed */
    int writes; /* ranks may have received what others have sent before */
} all[] = {
    {"reduce_scatter, different counts", different_reduced, -1, "rank", "rank",
     0},
    {"reduce_scatter, negative count", negative_reduced, -1, "", "rank 1", 0},
    {"reduce_scatter, no buffer", null_reduced, -1, "send is NULL", "rank 1",
     0},
    {"allgatherv, different counts", different_gathered, FAULTY, "rank 0", NULL,
     0},
    {"allgatherv, different counts later", different_later, -1, "rank", "rank",
     1},
    {"allgatherv, too few elements later", short_later, -1, "", "", 1},
    {"allgatherv, negative count", negative_gathered, -1, "", "rank 1", 0},
    {"gatherv, too few elements", short_gathered, 0, "rank 1", NULL, 0},
    {"gatherv, negative count", negative_sent, -1, "", "rank 1", 0},
    {"gatherv, no buffer", null_gathered, -1, "", "rank 1", 0},
    {"scatterv, different counts", different_scattered, FAULTY, "rank 0", NULL,
     0},
    {"scatterv, negative count", negative_scattered, -1, "", "rank 1", 0},
    {"scatterv, no buffer", null_scattered, -1, "", "rank 1", 0},
    {"gatherv, no buffer, a type with gaps", null_packed, -1, "", "rank 1", 0},
    {"scatterv, no buffer, a type with gaps", null_unpacked, -1, "", "rank 1",
     0},
    {"allgather, no buffer, a type with gaps", null_packed_block, -1, "",
     "rank 1", 0},
    {"gatherv, no buffer, a type far behind it", null_packed_behind, -1, "",
     "rank 1", 0},
    {"gatherv, no buffer, a type far before it", null_packed_before, -1, "",
     "rank 1", 0},
    {"bcast, no buffer, a type far behind it", null_bcast_behind, -1, "",
     "rank 1", 1},
    {"bcast, no buffer, a type far before it", null_bcast_before, -1, "",
     "rank 1", 1},
    {"alltoallw, no buffer, blocks far behind it", null_exchanged_behind, -1,
     "", "rank 1", 0},
    {"alltoallw, no buffer, blocks far before it", null_exchanged_before, -1,
     "", "rank 1", 0},
    {"scan, different counts", different_scans, -1, "rank", "rank", 0},
    {"scan, negative count", negative_scan, -1, "", "rank 1", 0},
    {"allgather, negative count", negative_block, -1, "", "rank 1", 0},
    {"alltoall, less to itself", less_to_itself, -1, "", "rank 1", 0},
    {"alltoall, more to itself", more_to_itself, -1, "", "rank 1", 0},
    {"allgather, less of itself", less_of_itself, -1, "", "rank 1", 0},
    {"gather, less of the root", less_of_root, -1, "", "rank 1", 0},
    {"scatter, less to the root", less_to_root, -1, "", "rank 1", 0},
    {"ialltoall, less to itself", iless_to_itself, -1, "", "rank 1", 1},
    {"exscan, no buffer", null_exscan, -1, "send is NULL", "rank 1", 0},
    {"reduce_scatter_block, different counts", different_blocks, -1, "rank",
     "rank", 0},
#if MPI_VERSION >= 4
    {"gatherv_init, different counts", different_gather_init, -1,
     "count of rank 1", "recvcounts[1]", 0},
    {"scatterv_init, different counts", different_scatter_init, -1,
     "count of rank 1", "sendcounts[1]", 0},
    {"allgatherv_init, different counts", different_allgather_init, -1,
     "recvcounts[0]", "rank 1", 0},
    {"allgatherv_init, too few elements", short_allgather_init, -1,
     "count of rank 1", "recvcounts[1]", 0},
    {"gatherv_init, empty blocks", empty_gather_init, -1, "recvcounts[0]",
     "rank 1", 0},
    {"gatherv_init, negative count", negative_gather_init, -1, "", "rank 1", 0},
    {"alltoall_init, less to itself", less_to_itself_init, -1, "", "rank 1", 0},
    {"scan_init, negative count", negative_scan_init, -1, "", "rank 1", 0},
    {"scatterv_init, no buffer", null_scatter_init, -1, "", "rank 1", 0},
#endif
    {"alltoallw, negative count", negative_exchanged, -1, "", "rank 1", 0},
    {"neighbor_alltoall, not expected", unexpected, FAULTY, "rank 0", NULL, 0},
    {"neighbor_alltoall, not sent", missing, FAULTY + 1, "rank 1", NULL, 0},
    {"neighbor_alltoallv, more than expected", more_to_neighbor, FAULTY + 1,
     "rank 1", NULL, 0},
    {"neighbor_allgatherv, less than expected", more_of_neighbor, FAULTY,
     "rank 0", NULL, 0},
    {"neighbor_alltoallw, negative count", negative_to_neighbor, -1, "",
     "rank 1", 0},
    {"neighbor_allgatherv, negative count", negative_of_neighbor, -1, "",
     "rank 1", 0},
    {"neighbor_alltoallv, no buffer", null_to_neighbor, -1, "", "rank 1", 0},
    {"ireduce_scatter, negative count", negative_ireduced, -1, "", "rank 1", 0},
    {"ireduce_scatter, no buffer", null_ireduced, -1, "send is NULL", "rank 1",
     0},
    {"ineighbor_alltoallv, more than expected", imore_to_neighbor, FAULTY + 1,
     "rank 1", NULL, 0},
    {"ineighbor_alltoallv, negative count", inegative_to_neighbor, -1, "",
     "rank 1", 0},
    {"ineighbor_alltoallv, no buffer", inull_to_neighbor, -1, "", "rank 1", 0},
#if MPI_VERSION >= 4
    {"reduce_scatter_init, different counts", different_reduced_init, -1,
     "rank", "rank", 0},
    {"alltoallw_init, negative count", negative_exchanged_init, -1, "",
     "rank 1", 0},
    {"neighbor_alltoallv_init, more than expected", more_to_neighbor_init, -1,
     "rank", "rank", 0},
    {"neighbor_alltoallv_init, negative count", negative_to_neighbor_init, -1,
     "", "rank 1", 0},
    {"neighbor_alltoallv_init, no buffer", null_to_neighbor_init, -1, "",
     "rank 1", 0},
#endif
};

static void try_wrong(const struct wrong *w)
{
    MPI_Comm comm;
    int length;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    memset(recv, -1, sizeof recv);
    int rc = w->make(comm, rank == FAULTY);
    text[0] = '\0';
    if (rc)
        MPI_Error_string(rc, text, &length);
    const int concerned =
        w->concerned < 0 ? rank == FAULTY : rank == w->concerned;
    if (concerned || w->concerned < 0) {
        const char *part = concerned ? w->part : w->other;
        check(w->name, rc != MPI_SUCCESS, "no error");
        check(w->name, strstr(text, part) != NULL, part);
        check(w->name, w->writes || is_untouched(), "written");
    } else {
        check(w->name, rc == MPI_SUCCESS, "error");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int failed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    alarm(SECONDS);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        try_wrong(&all[i]);
    MPI_Reduce(&failures, &failed, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", failed);
    MPI_Finalize();
    return 0;
}
