/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdcoll_mpi: collectives of an MPI program by libdcoll, without a change to
 * it (LD_PRELOAD). Calls go
 *
 *     calls.c    MPI_Allgather, ...: the names that are taken over
 *     large.c    all of them with large counts, of MPI 4
 *     begin.c    MPI_Iallgather, MPI_Allgather_init, ...: the same
 *     call.c     their arguments
 *     fortran.c, fortran_begin.c, fortran_call.c  the same from Fortran
 *     layer.c    whose call it is: ours, or that of the MPI below
 *     start.c    the same for calls that do not block
 *     comm.c     the team of a communicator, made when …
 *     break_even.c  … its calls have taken long enough to pay for one
 *     comm_end.c  its end, when all ranks have freed it
 *     contest.c  which of the two is faster there, for blocks of such a size
 *     verdicts.c what contests have shown, for communicators that come later
 *     ours.c     the call by libdcoll; verify: by both, and compared
 *     irregular.c  the same for MPI_Alltoallv, MPI_Gatherv, ...
 *     messages.c  what is too long for that
 *     reduce.c   reductions
 *     operators.c  their operations
 *     requests.c the same by libdcoll: from its start to its end
 *     persistent.c  persistent requests
 *     turns.c    calls that are queued and under way, and their progress
 *     shapes.c   what is prepared for them
 *     handles.c  requests by their handles
 *     pulse.c    the thread that makes progress while the program computes
 *     below.c    calls that do not block, by the MPI below
 *     large_below.c  those with large counts
 *     waits.c    MPI_Wait, MPI_Test, ... of requests, ours and theirs
 *     fortran_waits.c  the same from Fortran
 *     data.c     datatypes: what is not in one piece is packed
 *     stats.c    what became of the calls
 *     agree.c    what all ranks agree on in MPI_Init
 *     ahead.c    another library that gets the program's calls first
 *     guard.c    a library that was made for another MPI
 *     pmpi.c     the functions of the MPI below, looked up at run time
 *     offers.c   which names a program finds here: those that its MPI has, too
 *
 * Whatever decides whose a call is must be the same on all ranks, so what only
 * one of them knows (its datatypes, its memory) may not.
 */
#ifndef MPI_LAYER_H
#define MPI_LAYER_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll/dcoll.h"
#include "mpi/below/pmpi.h"

/* What libdcoll does not have is made of what it has; beyond
 * dcoll_collective_t. */
enum {
    LAYER_ALLGATHERV = DCOLL_ALLTOALLV + 1,
    LAYER_GATHERV,
    LAYER_SCATTERV,
    LAYER_COLLECTIVES, /* their number */
};

/* Blocks of any sizes, by dcoll_alltoallv? */
static inline bool layer_is_irregular(int collective)
{
    return collective >= (int)DCOLL_ALLTOALLV && collective <= LAYER_SCATTERV;
}

/* A call as the program has made it. What its rank does not use is not set. */
struct layer_call {
    int collective;
    const void *send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void *recv; /* of bcast the buffer */
    MPI_Count recv_count;
    MPI_Datatype recv_type;
    int root;
    MPI_Comm comm;
    MPI_Op op;  /* of a reduction; both sides are of the same elements */
    bool large; /* MPI_..._c: for the MPI below, and for these arrays */
    /* of an irregular one, for each rank, displacements in extents: ints, or
     * MPI_Count and MPI_Aint of one with large counts */
    const void *send_counts, *send_displs, *recv_counts, *recv_displs;
};

/* Why a call is left to the MPI below. */
enum layer_reason {
    LAYER_TAKEN,
    LAYER_SLOWER,  /* it is faster there */
    LAYER_EARLY,   /* the communicator has no team yet */
    LAYER_INEXACT, /* of a reduction: its rounding would depend on who makes it
                    */
    LAYER_EMPTY,   /* no bytes */
    LAYER_PLACE,   /* an irregular one in place */
    LAYER_TYPE,    /* a reduction of elements that are not in one piece, or for
                      which libdcoll_mpi has no such operation */
    LAYER_LONG,    /* more than an int counts, or of a reduction REDUCE_MOST */
    LAYER_WRONG,   /* wrong arguments: its error is the program's */
    LAYER_COMM,    /* struct layer_comm says why */
    LAYER_AHEAD,   /* of a call that does not block: a library ahead would
                      complete it */
    LAYER_LATER,   /* it may not wait for others, and is not prepared yet */
    LAYER_MEMORY,  /* no rank has made it, as one of them has no memory, or
                      more bytes than it can */
    LAYER_FAILED,  /* an error of ours, of which the program is told */
    LAYER_REASONS,
};

/* ---- call.c ---- */

/* With int or with large counts: void is what is said at layer_call. */
struct layer_call call_blocks(int collective, const void *send,
                              MPI_Count send_count, MPI_Datatype send_type,
                              void *recv, MPI_Count recv_count,
                              MPI_Datatype recv_type, int root, MPI_Comm comm);
struct layer_call call_bcast(void *buffer, MPI_Count count, MPI_Datatype type,
                             int root, MPI_Comm comm);
struct layer_call call_barrier(MPI_Comm comm);
struct layer_call call_reduce(int collective, const void *send, void *recv,
                              MPI_Count count, MPI_Datatype type, MPI_Op op,
                              int root, MPI_Comm comm);
struct layer_call call_alltoallv(const void *send, const void *send_counts,
                                 const void *send_displs,
                                 MPI_Datatype send_type, void *recv,
                                 const void *recv_counts,
                                 const void *recv_displs,
                                 MPI_Datatype recv_type, MPI_Comm comm);
struct layer_call call_gatherv(int collective, const void *send,
                               MPI_Count send_count, MPI_Datatype send_type,
                               void *recv, const void *recv_counts,
                               const void *recv_displs, MPI_Datatype recv_type,
                               int root, MPI_Comm comm);
struct layer_call call_scatterv(const void *send, const void *send_counts,
                                const void *send_displs, MPI_Datatype send_type,
                                void *recv, MPI_Count recv_count,
                                MPI_Datatype recv_type, int root,
                                MPI_Comm comm);

/* ---- contest.c ---- */

/* How a call is made. */
enum layer_form {
    FORM_BEGIN, /* MPI_I... */
    FORM_INIT,  /* MPI_..._init */
    FORMS,
};

#define CONTEST_COUNTED 16 /* calls of a trial that are, of both sides */

/* A rank came to a call and left it, in seconds of its clock. */
struct contest_call {
    double came, left;
};

/* Both are tried in turn, then the faster one serves. */
struct contest {
    int rest;         /* calls until the next trial; 0: … */
    int trial;        /* … so many of one have been made */
    bool tried, ours; /* at least once; by whom the others are made */
    double saves;     /* seconds, each call of ours */
    double cost;      /* seconds that this trial's calls of ours took more */
    struct contest_call timed[CONTEST_COUNTED];
};
enum { CONTEST_BELOW, CONTEST_OURS };
/* saves: as it has been found before, the same on all ranks; 0: it is not
 * known. eager: then the first trial begins at once. */
void contest_open(struct contest *c, double saves, bool eager);
/* Whose turn it is, in the next call, and whether its time is to be told. */
int contest_turn(struct contest *c, bool *trial);
/* When a trial was. Is there something to decide? Then all ranks tell what they
 * have timed, in the same call, … */
bool contest_took(struct contest *c, double came, double left);
/* … one rank's behind another's: who serves from now on, or the trial goes on.
 * clock: they all have the same one. */
void contest_decide(struct contest *c, const struct contest_call *all,
                    int ranks, bool clock);
bool contest_has_ended(const struct contest *c);
/* Is it known that ours is faster? The same on all ranks. */
bool contest_is_won(const struct contest *c);

/* ---- comm.c ---- */

#define ROOM_LEAST    (256 << 10) /* bytes, of each of a rank's rooms */
#define ROOM_MOST     (64 << 20)  /* … between calls */
#define LAYER_CLASSES 32          /* by the logarithm of the bytes */

/* A buffer of ours that grows. */
struct layer_room {
    void *data;
    size_t bytes;
};

/* A call that libdcoll has made of the program's own buffers: made again, it
 * comes to the same. Contents: zeros. */
struct layer_known {
    struct layer_call call;
    int64_t bytes; /* of a block */
    dcoll_call_t ours;
    bool is; /* there is one */
};

/* What belongs to a communicator. */
struct layer_comm {
    struct layer_comm *next; /* layer.comms, the latest first */
    MPI_Comm inner;          /* the same ranks; MPI_COMM_NULL: left */
    int rank, size;
    drail_job_t *job;
    drail_t *rail;
    dcoll_team_t *team; /* NULL: its calls are left to the MPI below … */
    char why[256];      /* … because of this */
    bool refused;       /* by a rank, while it was made */
    bool deferred;      /* there may be one later: */
    unsigned calls;     /* so far, and … */
    double gain;        /* … seconds that a team might have saved in them */
    struct contest (*contests)[LAYER_CLASSES];   /* of each collective */
    struct layer_known known[LAYER_COLLECTIVES]; /* the latest of each */
    struct layer_room send, recv, expected, counts;
    size_t room, no_room; /* bytes that all ranks' send and recv have, and that
                             one of them has not; 0: not known */
    struct requests *requests; /* of calls that do not block; NULL: none yet */
    bool freed;                /* by the program */
    bool ending;               /* this rank makes no more calls on it … */
    MPI_Request ended;         /* … and no rank does, when this is complete */
};

/* Of @comm, made at its first call, by all of its ranks. NULL: no memory. */
struct layer_comm *layer_comm_of(MPI_Comm comm);
/* NULL: it has none yet. */
struct layer_comm *layer_comm_known(MPI_Comm comm);
/* Deletes its attribute, or MPI does. */
int layer_comm_forget(MPI_Comm comm, int key, void *value, void *extra);
/* Whoever waits in our calls lets the MPI below make progress. A struct
 * layer_comm. */
void layer_progress_below(void *c);
/* The program frees it. */
void layer_comm_free(MPI_Comm comm);
/* At least so many bytes, or NULL. */
void *layer_room(struct layer_room *room, size_t bytes);
/* Gives back what a call has needed beyond what calls mostly do. */
void layer_comm_trim(struct layer_comm *c);
/* May this rank have another team? */
bool layer_comm_has_place(void);
/* Makes the team that has been deferred, by all ranks. */
void layer_comm_serve(struct layer_comm *c, MPI_Comm comm);

/* ---- break_even.c ---- */

/* Called in each call of a communicator without a team, by all ranks: is it
 * time to make it? */
bool break_even_reached(struct layer_comm *c, MPI_Comm comm);
/* A call that the MPI below has made meanwhile, in so many seconds. */
void break_even_count(struct layer_comm *c, int collective, unsigned class,
                      double seconds);
/* How long it took to make a team. */
void break_even_paid(double seconds);

/* ---- verdicts.c ---- */

/* Seconds that a call of ours saves, or, negative, costs, as a contest among so
 * many ranks has shown. 0: none has. */
double verdict_of(int ranks, int collective, unsigned class);
/* One that has been decided. */
void verdict_keep(const struct layer_comm *c, int collective, unsigned class,
                  const struct contest *contest);
/* Opens the contests of a communicator with what all of its ranks know. */
void verdicts_agree(struct layer_comm *c);

/* ---- comm_end.c ---- */

/* Without waiting for other ranks. */
void layer_comm_end(struct layer_comm *c);
/* Of those that all ranks have freed. */
void layer_comm_end_freed(void);
/* In MPI_Finalize, where all ranks wait for each other. */
void layer_comm_end_all(void);
void layer_comm_close_team(struct layer_comm *c);

/* ---- data.c ---- */

/* Bytes of elements, or -1: wrong arguments. */
int64_t data_bytes(MPI_Count count, MPI_Datatype type);
/* Are elements of it one after the other, as they are sent? */
bool data_is_plain(MPI_Datatype type);
/* Is it known to be so for good: one of MPI's own, the latest that was asked
 * for? */
bool data_stays_plain(MPI_Datatype type);
/* The same type, which the program may free meanwhile. An MPI error. */
int data_keep(MPI_Datatype type, MPI_Datatype *kept);
void data_release(MPI_Datatype *kept);

/* ---- ours.c ---- */

/* The same call, if it has been made before; NULL: it is not known. */
const struct layer_known *ours_known(const struct layer_comm *c,
                                     const struct layer_call *call);
/* Makes it, of blocks of so many bytes; an MPI error, of which the
 * communicator's handler has been told. Of one that is known, its own call. */
int ours_run(struct layer_comm *c, const struct layer_call *call, size_t bytes);
/* What it returns for a call that all ranks leave to the MPI below, as one of
 * them has no memory: no error of MPI. */
#define OURS_LEFT (-1)
/* A code for an error of libdcoll, with its text, or OURS_LEFT. */
int ours_error(const struct layer_comm *c, int rc);
/* This rank does not come to a call of the others for an error of MPI, which is
 * returned: the team ends for all of them. */
int ours_missing(const struct layer_comm *c, int rc);
/* Have calls ended on some rank, or have ranks made different ones? Then none
 * is made any more, by neither side. */
bool ours_is_lost(const struct layer_comm *c);
/* The call, or, where this rank's arguments are refused, word of that to those
 * who make it. */
int ours_dcoll(struct layer_comm *c, const dcoll_call_t *call);
/* Have send and recv of all ranks so many bytes? All ask. */
bool ours_has_room(struct layer_comm *c, size_t bytes);
/* Ranks agree by the team: there a rank that does not come is missed, and those
 * who refuse a call are heard. @bytes: of elements of the type, in each. An
 * error of libdcoll. */
int ours_combine(struct layer_comm *c, const void *mine, void *all,
                 size_t bytes, dcoll_type_t type, dcoll_operator_t op);
/* Can all ranks? */
bool ours_all_can(struct layer_comm *c, bool can);
/* An all-gather of so many bytes. False: it has failed. */
bool ours_share(struct layer_comm *c, const void *mine, size_t bytes,
                void *all);

/* The data of a call that does not block; datatypes are kept. Buffers of its
 * shape say nothing. */
struct ours;
dcoll_call_t ours_shape(const struct layer_comm *c, const struct layer_call *a,
                        size_t bytes);
/* MPI errors. To fill packs what is sent; spread unpacks what has come. */
int ours_open(const struct layer_comm *c, const struct layer_call *a,
              size_t bytes, struct ours **out);
int ours_fill(const struct layer_comm *c, struct ours *o);
const dcoll_call_t *ours_call(const struct ours *o);
int ours_spread(const struct layer_comm *c, const struct ours *o);
/* verify: the same for the MPI below, with a buffer of its own, which is filled
 * as that of a call is; and its comparison. */
int ours_expect(const struct layer_comm *c, struct ours *o,
                struct layer_call *below);
void ours_compare(const struct layer_comm *c, const struct ours *o);
void ours_close(struct ours *o);

/* ---- messages.c ---- */

/* Those beside a call. Contents: zeros. */
struct messages {
    MPI_Request *all;
    int n;
};
/* MPI errors. */
int messages_send(struct messages *m, const struct layer_comm *c,
                  const void *data, MPI_Count count, MPI_Datatype type, int to);
int messages_receive(struct messages *m, const struct layer_comm *c, void *data,
                     MPI_Count count, MPI_Datatype type, int from);
int messages_test(struct messages *m, int *done);
int messages_wait(struct messages *m);
/* After an error: they need not be complete. */
void messages_drop(struct messages *m);

/* ---- irregular.c ---- */

/* Are its arguments right, as far as this rank can see? */
bool irregular_is_right(const struct layer_comm *c,
                        const struct layer_call *call);
/* What any call needs for its numbers. NULL: no memory. */
void *irregular_room(struct layer_comm *c);
/* Makes it; an MPI error. */
int irregular_run(struct layer_comm *c, const struct layer_call *call);

/* As those of ours.c. */
struct irregular;
int irregular_open(const struct layer_comm *c, const struct layer_call *a,
                   struct irregular **out);
int irregular_fill(const struct layer_comm *c, struct irregular *o);
/* Blocks that are messages: has it any, on this rank? They are begun in the
 * order of the calls, and complete beside the call. */
bool irregular_has_long(const struct irregular *o);
int irregular_begin_long(const struct layer_comm *c, struct irregular *o);
int irregular_test_long(struct irregular *o, int *done);
const dcoll_alltoallv_t *irregular_call(const struct irregular *o);
/* The most bytes between this rank and another one, and those that it sends or
 * receives. */
void irregular_bounds(const struct layer_comm *c, const struct irregular *o,
                      unsigned long long *pair, unsigned long long *rank);
int irregular_spread(const struct layer_comm *c, const struct irregular *o);
int irregular_expect(const struct layer_comm *c, struct irregular *o,
                     struct layer_call *below);
void irregular_compare(const struct layer_comm *c, const struct irregular *o);
void irregular_close(struct irregular *o);

/* ---- reduce.c ---- */

#define REDUCE_MOST (16 << 20) /* bytes, of a rank: as much is tried */

/* Is it of elements in one piece, by an operation that they have? */
bool reduce_can(const struct layer_call *call);
/* That of libdcoll itself; NULL: it has none. */
const dcoll_reduction_t *reduce_basic(const struct layer_call *call);
/* Is the result the same, whatever the order of the operands? */
bool reduce_is_exact(const struct layer_call *call);
/* verify: the same call by the MPI below, to there. */
struct layer_call reduce_below(const struct layer_comm *c,
                               const struct layer_call *call, void *recv);
/* Makes one, of so many bytes; an MPI error. */
int reduce_run(struct layer_comm *c, const struct layer_call *call,
               size_t bytes);

/* ---- layer.c ---- */

struct layer {
    bool off, always, eager, inexact, verify, stats; /* DCOLL_MPI */
    bool threads;                                    /* several at a time */
    bool completed_elsewhere; /* requests, by a library ahead */
    bool ended;               /* in MPI_Finalize */
    int key;                  /* of communicators: struct layer_comm */
    struct layer_comm *comms;
    int teams, freed; /* communicators: with a team, and not freed; freed, but
                         not ended */
    _Atomic uint64_t calls[LAYER_COLLECTIVES][LAYER_REASONS];
    _Atomic uint64_t forms[FORMS][LAYER_COLLECTIVES][LAYER_REASONS];
    uint64_t differences;
    double saved; /* seconds, in calls that were taken … */
    double spent; /* … and for teams, trials and what is prepared */
};

extern struct layer layer;

/* DCOLL_MPI, once: before MPI_Init, where a wrong word ends the program. */
void layer_read_words(void);
/* What there is to do before anything else, once. */
void layer_begin(void);
/* Is all left to the MPI below? */
bool layer_is_off(void);
/* Seconds, of a clock that all ranks of a host have. */
double layer_now(void);
/* Makes a call, in either way. */
int layer_make(const struct layer_call *call);
/* The same by the MPI below. */
int layer_below(const struct layer_call *call);
/* Can it be taken, of blocks of so many bytes? */
enum layer_reason layer_judge(const struct layer_comm *c,
                              const struct layer_call *a, int64_t *bytes);
/* Where it is timed; of a communicator with a team. */
struct contest *layer_contest(struct layer_comm *c, const struct layer_call *a,
                              int64_t bytes);
const char *layer_name(int collective);

/* ---- large_below.c ---- */

/* layer_below of a call with large counts. */
int large_below(const struct layer_call *call);

/* ---- guard.c ---- */

/* Before the functions of the MPI below are looked up: it may have been loaded
 * after this library. */
void guard_late(void);

/* ---- agree.c ---- */

/* In MPI_Init, by all ranks of MPI_COMM_WORLD: off on one, off on all. Ends the
 * job where a rank is without this library. */
void layer_agree(void);

/* ---- ahead.c ---- */

/* Does another library get calls that complete requests before this one? */
bool ahead_completes(void);

/* ---- offers.c ---- */

/* Takes back the names of functions that the MPI below lacks. */
void offers_limit(void);
/* There is no MPI yet: names are there when one is loaded that has them. */
void offers_choose(void);

/* ---- stats.c ---- */

void stats_print(void);

#endif
