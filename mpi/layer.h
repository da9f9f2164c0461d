/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdcoll_mpi is preloaded into an MPI program. It defines MPI_Allgather and
 * the other collectives, and makes each call either by libdcoll or by the
 * program's own MPI ("the MPI below"). A call is "taken" if libdcoll makes it,
 * and "left" if the MPI below does. To take calls, a communicator needs a team
 * of libdcoll. Files in reading order:
 *
 *   calls/     the functions that the program calls
 *     signatures.h     one row for each collective: everything is made of these
 *     calls.c          MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, ...
 *     completion.c     MPI_Wait, MPI_Test, MPI_Start, ...
 *     init.c           MPI_Init, MPI_Finalize, MPI_Comm_free
 *     fault_tolerance.c  MPIX_Comm_revoke, MPIX_Comm_shrink
 *     fortran*.c       the same for Fortran
 *   choose/    which side makes a call
 *     blocking.c       layer_run: blocking calls
 *     nonblocking.c    layer_begin, layer_init: non-blocking, persistent ones
 *     break_even.c     when a communicator gets a team
 *     trials.c         both sides are timed, the faster one serves
 *     trial_results.c  results, kept for communicators that come later
 *     settings.c       DCOLL_MPI
 *     settings_agree.c in MPI_Init all ranks agree on them
 *     stats.c          DCOLL_MPI=stats
 *   comm/      what the layer keeps for a communicator
 *     comm.c           found by an attribute of the communicator
 *     topology.c       its neighbours
 *     team.c           its team of libdcoll is made
 *     request_team.c   a second one for requests, if there are several threads
 *     free.c           and ended, when all ranks have freed the communicator
 *   run/       a call by libdcoll
 *     run.c            the kind of call; calls that are repeated
 *     regular.c        equal blocks: packed, made, unpacked
 *     irregular.c      blocks of different sizes (MPI_Alltoallv and its kind)
 *     counted.c        counts that all ranks know
 *     blocks.c         where these blocks are; packed and unpacked
 *     long_blocks.c    blocks of 2 GiB and more go by messages of MPI
 *     reduce.c         reductions
 *     operators.c      MPI's types and operations as those of libdcoll
 *     datatype.c       size and layout of datatypes
 *     team_call.c      calls by which ranks agree; errors
 *   requests/  calls that do not block, by libdcoll
 *     request.c        one request, from its start to its end
 *     persistent.c     persistent requests
 *     queue.c          requests of a communicator, in order; the team's lock
 *     prepare.c        prepares calls that could not begin without waiting
 *     handle_map.c     finds a request by its MPI_Request
 *     progress_thread.c  progress while the program computes
 *   below/     the MPI below
 *     pmpi.c           its functions, looked up at run time
 *     forward.c        a call is passed on
 *     abi_check.c      is this library made for the program's MPI?
 *     exported_names.c hides functions that the MPI below lacks
 *     interceptors.c   is another library between the program and this one?
 *
 * All ranks must choose the same side for a call. So only what all ranks know
 * may decide: not a rank's own datatypes or memory.
 *
 * Threads (MPI_THREAD_MULTIPLE). MPI lets one thread at a time make collective
 * calls on a communicator, and any thread start or complete a request. So what
 * only collective calls use needs no lock: most of struct layer_comm. Requests
 * and communicators are found and ended under locks, and nothing waits for
 * other ranks with a lock that another thread may need to let them go on
 * (comm/request_team.c).
 */
#ifndef MPI_LAYER_H
#define MPI_LAYER_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll/dcoll.h"
#include "mpi/below/pmpi.h"

struct layer_comm;
struct trials;

/* Collectives: those of dcoll_collective_t, and others that libdcoll makes by
 * one of these. */
enum {
    LAYER_ALLGATHER = DCOLL_ALLGATHER,
    LAYER_GATHER = DCOLL_GATHER,
    LAYER_SCATTER = DCOLL_SCATTER,
    LAYER_ALLTOALL = DCOLL_ALLTOALL,
    LAYER_BCAST = DCOLL_BCAST,
    LAYER_ALLREDUCE = DCOLL_ALLREDUCE,
    LAYER_REDUCE = DCOLL_REDUCE,
    LAYER_REDUCE_SCATTER_BLOCK = DCOLL_REDUCE_SCATTER_BLOCK,
    LAYER_SCAN = DCOLL_SCAN,
    LAYER_EXSCAN = DCOLL_EXSCAN,
    LAYER_BARRIER = DCOLL_BARRIER,
    LAYER_ALLTOALLV = DCOLL_ALLTOALLV,
    LAYER_ALLGATHERV,
    LAYER_GATHERV,
    LAYER_SCATTERV,
    LAYER_ALLTOALLW,
    LAYER_NEIGHBOR_ALLGATHER,
    LAYER_NEIGHBOR_ALLGATHERV,
    LAYER_NEIGHBOR_ALLTOALL,
    LAYER_NEIGHBOR_ALLTOALLV,
    LAYER_NEIGHBOR_ALLTOALLW,
    LAYER_REDUCE_SCATTER,
    LAYER_COLLECTIVES, /* their number */
};

/* Blocks of different sizes, by dcoll_alltoallv? */
static inline bool layer_is_irregular(int collective)
{
    return collective >= LAYER_ALLTOALLV &&
           collective <= LAYER_NEIGHBOR_ALLTOALLW;
}

/* Between neighbours in the communicator's topology? */
static inline bool layer_is_of_neighbors(int collective)
{
    return collective >= LAYER_NEIGHBOR_ALLGATHER &&
           collective <= LAYER_NEIGHBOR_ALLTOALLW;
}

/* Is it a reduction? */
static inline bool layer_reduces(int collective)
{
    return collective == LAYER_REDUCE_SCATTER ||
           (collective < LAYER_ALLTOALLV &&
            dcoll_collective_reduces((dcoll_collective_t)collective));
}

/* A call as the program made it. Members that the function has no argument for
 * are zero; those that this rank need not give may be anything. */
struct layer_call {
    int collective;
    const void *send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void *recv; /* of MPI_Bcast: the buffer */
    MPI_Count recv_count;
    MPI_Datatype recv_type;
    int root;
    MPI_Comm comm;
    MPI_Op op;  /* of a reduction, which has recv_count of recv_type */
    bool large; /* made by MPI_..._c: says the type of these arrays, */
    /* one element for each rank, or neighbour: int, or MPI_Count and MPI_Aint;
     * displacements of MPI_Neighbor_alltoallw are always MPI_Aint */
    const void *send_counts, *send_displs, *recv_counts, *recv_displs;
    const MPI_Datatype *send_types, *recv_types;
};

/* The count for rank @r in an array of the call. */
static inline MPI_Count layer_count_at(const struct layer_call *call,
                                       const void *counts, int r)
{
    return call->large ? ((const MPI_Count *)counts)[r]
                       : ((const int *)counts)[r];
}

/* An all-to-all whose blocks to send are replaced by those received? All ranks
 * give MPI_IN_PLACE, or none does. */
static inline bool layer_exchanges_in_place(const struct layer_call *call)
{
    return call->send == MPI_IN_PLACE && (call->collective == LAYER_ALLTOALLV ||
                                          call->collective == LAYER_ALLTOALLW);
}

/* What became of a call: taken by libdcoll, or why not. */
enum layer_reason {
    LAYER_TAKEN,
    LAYER_SLOWER,   /* the MPI below is faster, or it is not known */
    LAYER_EARLY,    /* the communicator has no team yet */
    LAYER_INEXACT,  /* a reduction that rounds: see reduce_is_exact */
    LAYER_EMPTY,    /* no bytes */
    LAYER_IN_PLACE, /* layer_exchanges_in_place, and it does not block */
    LAYER_TWINS,    /* two blocks from the same neighbour: MPIs do not agree
                       which comes first */
    LAYER_TYPE,     /* a reduction whose type or operation is not supported */
    LAYER_LONG,     /* more bytes than an int counts, or than REDUCE_MOST */
    LAYER_WRONG,    /* wrong arguments: the MPI below reports them */
    LAYER_NO_TEAM,  /* struct layer_comm says why; or the layer is off */
    LAYER_INTERCEPTED, /* non-blocking: another library would complete it */
    LAYER_UNPREPARED,  /* non-blocking: it would wait for other ranks */
    LAYER_MEMORY,      /* a rank has no memory, or too long blocks */
    LAYER_FAILED,      /* libdcoll failed: the program gets an error */
    LAYER_REASONS,
};

/* How a call is made. */
enum layer_form {
    FORM_NONBLOCKING, /* MPI_Iallgather */
    FORM_PERSISTENT,  /* MPI_Allgather_init */
    FORMS,
};

/* The process's state. */
struct layer {
    bool off, always, eager, inexact, verify, stats; /* DCOLL_MPI */
    bool threads;      /* MPI_THREAD_MULTIPLE, on any rank */
    bool intercepted;  /* another library completes requests first */
    bool ended;        /* MPI_Finalize has been called */
    int key;           /* of the attribute with a struct layer_comm */
    _Atomic int teams; /* of communicators that the program has not freed */
    _Atomic int freed; /* communicators that the program has freed, not ended */
    _Atomic uint64_t calls[LAYER_COLLECTIVES][LAYER_REASONS];
    _Atomic uint64_t forms[FORMS][LAYER_COLLECTIVES][LAYER_REASONS];
    _Atomic uint64_t differences; /* found by verify */
    double saved, spent;          /* of communicators that have ended: as in
                                     struct layer_comm */
};

extern struct layer layer;

/* Reads DCOLL_MPI, once; before anything else. Exits on a wrong word. */
void settings_read(void);
/* In MPI_Init, by all ranks of MPI_COMM_WORLD. If DCOLL_MPI differs, the layer
 * is off everywhere. If a rank lacks this library, the job is aborted. */
void settings_agree(void);
/* Before each call: sets the layer up, once. */
void layer_setup(void);
/* Does the MPI below make all calls? */
bool layer_is_off(void);

/* A call in each of the forms, by one of the sides. An MPI error. */
int layer_run(const struct layer_call *call);
int layer_begin(const struct layer_call *call, MPI_Request *request);
int layer_init(const struct layer_call *call, MPI_Info info,
               MPI_Request *request);

/* Is a count negative that this rank must give? */
bool layer_has_negative(const struct layer_comm *c,
                        const struct layer_call *call);
/* May libdcoll make it? *bytes: of a block; -1: wrong arguments. @c: that of
 * the call. */
enum layer_reason layer_judge(const struct layer_comm *c,
                              const struct layer_call *call, int64_t *bytes);
/* The trials of calls like this one. The communicator has a team. */
struct trials *layer_trials(struct layer_comm *c, const struct layer_call *call,
                            int64_t bytes);

/* Seconds, of a clock that all ranks of a host share. */
double layer_now(void);
const char *layer_name(int collective);

#endif
