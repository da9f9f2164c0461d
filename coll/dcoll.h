/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * dcoll: collectives over dapl_rail (seeds 000, 001, 002, 003). What is common
 * to all calls:
 *
 *  - All ranks of the team make the same calls (collective, bytes, root,
 *    algorithm, in place or not, element of a reduction) in the same order. A
 * rank that does not is named in the error of those that wait for it, and no
 * data is corrupted.
 *  - Calls return 0 or a negative DRAIL_E… code; dcoll_last_error() adds a
 *    sentence. An error in an argument leaves the team as it was, and so does a
 *    call that a rank has no memory for, which is an error of all. After an
 *    error of a collective under way (a dead rank, a timeout, ranks with
 *    different calls) the team is broken: each call returns that error, and it
 *    can only be freed.
 *    Transfers of that collective may go on: its buffers must stay as they are
 *    until drail_close().
 *  - A team and its requests are used by one thread at a time, as its drail_t.
 *  - Ranks give each other credit inside these calls only. With more of them
 *    under way than DRAIL_DEPTH, a rank that has completed its own must not
 *    wait outside for the others (drail_job_barrier).
 *  - A call may return before its messages have arrived. What a rail loses of
 *    them is sent again in later calls of this rank, to which drail_job_barrier
 *    counts: peers wait for a rank that computes meanwhile.
 *  - Buffers are any memory, and what is only sent may be read-only
 *    (PROT_READ). Memory of drail_mem_alloc() is the fastest: peers can write
 *    into it and, with DRAIL_ACCESS_REMOTE_READ, read it without the kernel.
 *    `bytes` is that of one block.
 */
#ifndef DCOLL_H
#define DCOLL_H

#include "dapl_rail/dapl_rail.h"

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** For the parameter send: the rank's own block lies in its place in recv
 *  already. All-gather, all-to-all (recv holds what is to be sent), all-reduce:
 *  on all ranks or none; gather, reduce: at the root. For recv of a scatter's
 * root: its block stays in send. */
#define DCOLL_IN_PLACE ((void *)-1)

/** All ranks of a job, for collectives. */
typedef struct dcoll_team dcoll_team_t;

typedef struct dcoll_config {
    unsigned ports; /**< of multi-port algorithms; 0: one per rail */
    unsigned depth; /**< 1 or 2, default 2 (dcoll_args_t.depth); of short
                         gathers, reductions to a root, scatters and broadcasts
                         within a node up to 256, of those but broadcasts
                         between nodes up to 32, in at most 512 KiB */
    size_t zero_copy_bytes; /**< transfers of at least so many bytes go from
                                 and to the final memory; SIZE_MAX: never */
    unsigned groups;        /**< of mc-groups; 0: its default */
    bool paced;             /**< one step after the other (dcoll_args_t.paced),
                                 for comparison with the papers; default: not,
                                 which is faster */
    const char *table;      /**< file of `railbench tune` for auto, which takes
                                 the rows of the engine in use; NULL: the
                                 built-in rules, which also decide when any
                                 rank has no such table, or one with other
                                 rows */
    size_t keep_bytes;      /**< what prepared calls may take that the team
                                 keeps (not those of dcoll_init), beside the
                                 latest one; the smallest of all ranks counts.
                                 Default 64 MiB */
    /** Called now and then, at least once in some milliseconds, by a rank that
     *  waits for others in a call on the team: for who has to make progress
     *  elsewhere, too, or those others would not come (an MPI that owes them
     *  messages). It must make no call on this team. NULL: nobody is. */
    void (*idle)(void *context);
    void *idle_context; /**< its argument */
    /** Requests of dcoll_init may be started in any order, which may differ
     *  between ranks, also against their other calls (MPI 4): who prepares a
     *  call does not complete them, and nobody compares their starts. A start
     *  that never comes is noticed by its timeout alone then. */
    bool any_order;
} dcoll_config_t;

void dcoll_config_init(dcoll_config_t *cfg);

/**
 * Collective over all ranks of the job. @p rail must stay open until the team
 * is freed, serves one team at a time, and its notifications are the team's.
 * Ranks of several nodes are connected with the few others that they meet to
 * prepare calls (at distances of powers of two); all other connections are made
 * when an algorithm first needs them. What one rank has no memory for, or
 * refuses (but NULL for job, rail or out), fails on all.
 * @param job of all of the team's ranks.
 * @param rail of this job, open.
 * @param cfg NULL: as dcoll_config_init() sets it.
 * @param out set on success only.
 * @param err may be NULL.
 */
int dcoll_team_create(drail_job_t *job, drail_t *rail,
                      const dcoll_config_t *cfg, dcoll_team_t **out,
                      drail_error_t *err);
/** Frees the team and requests that are left, before drail_close and
 *  drail_job_leave. Accepts NULL. Not while other ranks may still be within a
 *  collective of this team: see dcoll_barrier. */
void dcoll_team_free(dcoll_team_t *team);

const dcoll_shape_t *dcoll_team_shape(const dcoll_team_t *team);
const dcoll_config_t *dcoll_team_config(const dcoll_team_t *team);
const char *dcoll_last_error(const dcoll_team_t *team);
/** 0; or the error that has broken the team, which every call returns. */
int dcoll_team_error(const dcoll_team_t *team);
/** For a rank that cannot make a call which others make: breaks the team. Those
 *  that wait for this rank, now or later, hear @p code (not 0) and @p why. */
void dcoll_team_give_up(dcoll_team_t *team, int code, const char *why);
/** For a rank that does not make a call (as its arguments are wrong) but the
 *  next ones: nothing where all ranks skip it; those that make it, and wait for
 *  this rank for a while, find that the calls differ. */
void dcoll_team_skip(dcoll_team_t *team);

/* ---------------------------------------------------------- collectives --- */

/**
 * What a reduction does: elements, and how two of them are combined. The
 * operation is to be associative, or nearly so, as + of floating-point numbers
 * is; it need not commute: elements are combined in the order of ranks. How
 * they are bracketed depends on the algorithm, so on bytes and team, but is the
 * same in equal calls and on all ranks: the results of these are of the same
 * bits. The SUM and PROD of two NaNs are the left one, made quiet.
 */
typedef struct dcoll_reduction {
    size_t element; /**< bytes, 1 …; the same on all ranks */
    /** result[i] = left[i] op right[i] for i < count: left comes from lower
     *  ranks. result is left or right, or overlaps neither. It makes no call on
     *  the team, and returns soon: others wait for this rank, for the timeout
     *  of the transport at most. Operands are aligned as the buffers of the
     *  call are, up to 64 bytes, if the element is a power of two. */
    void (*combine)(void *context, const void *left, const void *right,
                    void *result, size_t count);
    void *context; /**< its argument */
} dcoll_reduction_t;

typedef enum dcoll_type {
    DCOLL_INT8,
    DCOLL_INT16,
    DCOLL_INT32,
    DCOLL_INT64,
    DCOLL_UINT8,
    DCOLL_UINT16,
    DCOLL_UINT32,
    DCOLL_UINT64,
    DCOLL_FLOAT,
    DCOLL_DOUBLE,
    DCOLL_TYPES
} dcoll_type_t;

/** Of signed integers, a sum or product that is too large wraps around. MIN and
 *  MAX of a number and none (NaN) are either. Logical ones give 0 or 1. */
typedef enum dcoll_operator {
    DCOLL_SUM,
    DCOLL_PROD,
    DCOLL_MIN,
    DCOLL_MAX,
    DCOLL_LAND,
    DCOLL_LOR,
    DCOLL_LXOR,
    DCOLL_BAND, /**< of integers, as the two below */
    DCOLL_BOR,
    DCOLL_BXOR,
    DCOLL_OPERATORS
} dcoll_operator_t;

/** Of basic types; constant. NULL: there is none such. */
const dcoll_reduction_t *dcoll_reduction(dcoll_type_t type,
                                         dcoll_operator_t op);

/** What is to be done. send and recv may be NULL where the collective does not
 *  use them on this rank, or for 0 bytes. */
typedef struct dcoll_call {
    dcoll_collective_t collective;
    const void *send; /**< or DCOLL_IN_PLACE */
    void *recv;       /**< bcast: the buffer on all ranks, and send is NULL */
    size_t bytes;     /**< of one block; of a reduction, whole elements */
    unsigned root;    /**< of gather, bcast, scatter and reduce */
    const char *algorithm; /**< NULL or "auto": the team's choice */
    const dcoll_reduction_t *reduction; /**< of reduce and allreduce; it is
                                             copied, what context points to must
                                             stay until the call is complete, or
                                             the request is freed */
} dcoll_call_t;

/* Blocking. DRAIL_ETIMEOUT when a call has not got on for the timeout of the
 * transport: none of its bytes have moved, nor has the rank that it waits for got
 * on.
 * Buffers may be any memory. To register it for one call takes long: within a
 * node `auto` copies through the node's memory instead, or lets ranks read each
 * other's by the kernel where blocks are long; those from drail_mem_alloc are
 * got over the rails then. Who makes the same call often is faster with a
 * persistent request, from some KB on. */
int dcoll_gather(dcoll_team_t *team, const void *send, void *recv, size_t bytes,
                 unsigned root);
int dcoll_allgather(dcoll_team_t *team, const void *send, void *recv,
                    size_t bytes);
int dcoll_alltoall(dcoll_team_t *team, const void *send, void *recv,
                   size_t bytes);
int dcoll_bcast(dcoll_team_t *team, void *buffer, size_t bytes, unsigned root);
int dcoll_scatter(dcoll_team_t *team, const void *send, void *recv,
                  size_t bytes, unsigned root);
int dcoll_barrier(dcoll_team_t *team);
/** What all ranks' send have, combined, to the root's recv. */
int dcoll_reduce(dcoll_team_t *team, const void *send, void *recv, size_t count,
                 const dcoll_reduction_t *reduction, unsigned root);
/** ... to recv of all ranks. */
int dcoll_allreduce(dcoll_team_t *team, const void *send, void *recv,
                    size_t count, const dcoll_reduction_t *reduction);
/** Any of them, with any algorithm. */
int dcoll_run(dcoll_team_t *team, const dcoll_call_t *call);

/* ------------------------------------------------ irregular all-to-all --- */

/**
 * Elements of one size, of which each rank has any number for each other, known
 * at run time only (seed 003; MPI_Alltoallv). Counts, and displacements in
 * elements, are arrays with an entry for each rank. Ranks make the call with
 * the same element size, bounds and algorithm; counts are each rank's own. send
 * and recv must not overlap, and there is no DCOLL_IN_PLACE; where there are no
 * elements, both may be NULL, and displacements anything.
 *
 * Bounds: with both set, equal on all ranks, a call begins at once, and counts
 * beyond them are an error of this rank alone. With 0, blocking and
 * non-blocking calls first agree on what there is (the non-blocking one waits
 * for the others there), but for those of one node and algorithm direct, which
 * need no bounds; an error in an argument of one rank is returned by all, and
 * auto knows the counts: where those of two ranks disagree in a call that
 * agrees first, all return it. A persistent request needs bounds.
 *
 * Memory: if there is none to prepare a call once the ranks have met for it,
 * that is an error of all, and the team goes on. Before that, and where a
 * segment of a peer can't be mapped or registered, the team breaks.
 *
 * Otherwise what comes and does not fit (other counts than recv_counts, more
 * than max_rank or than there is room for) is an error of that rank only, which
 * names the other if it is the other's counts; nothing is written to recv, and
 * the team goes on. The others have done their part, and what is theirs. (In
 * MPI, too, it is the receiver who is told of what he has no room for,
 * MPI_ERR_TRUNCATE; but his buffer may hold anything then, and he need not be
 * told of what is shorter than he has said.)
 */
typedef struct dcoll_alltoallv {
    const void *send;
    const size_t *send_counts; /**< at most UINT32_MAX each */
    const size_t *send_displs; /**< where they begin; NULL: one after another */
    void *recv;
    const size_t *recv_counts; /**< what is to come; NULL: it finds that out */
    const size_t *recv_displs; /**< with recv_counts; must not overlap; NULL:
                                    one after another */
    size_t room;    /**< without recv_counts: elements that recv takes, at
                         most PTRDIFF_MAX bytes of them */
    size_t *found;  /**< the elements that have come from each; may be NULL */
    size_t element; /**< bytes, 1 … UINT32_MAX */
    size_t max_pair, max_rank; /**< bounds: elements from one rank to another,
                                    and those that one sends, or receives */
    const char *algorithm;     /**< NULL or "auto": the team's choice */
} dcoll_alltoallv_t;

/** Elements which each say where they are to go, in any order, before and
 *  after (seed 003). As above, otherwise. */
typedef struct dcoll_elements {
    const void *send;
    size_t count; /**< in send */
    void *recv;
    size_t room;        /**< elements that recv takes */
    size_t *received;   /**< those that have come; may be NULL */
    size_t element;     /**< bytes, 4 … UINT32_MAX */
    size_t destination; /**< offset in an element: of the rank, a uint32_t in
                             the order of this machine, aligned or not */
    size_t max_pair, max_rank;
    const char *algorithm;
} dcoll_elements_t;

/* Blocking. */
int dcoll_alltoallv(dcoll_team_t *team, const dcoll_alltoallv_t *call);
int dcoll_alltoall_elements(dcoll_team_t *team, const dcoll_elements_t *call);

/* ------------------------------------- persistent and non-blocking --- */

/**
 * A collective that is prepared once (schedule, memory, connections, keys) and
 * started many times. Owned by the caller until dcoll_free().
 */
typedef struct dcoll_request dcoll_request_t;

/** Collective over the team; nothing is allocated after it. (But the shm
 * provider maps a peer's memory at the first transfer to it, and a connection
 * grows its journal when more is under way than ever before.) The buffers must
 * stay until dcoll_free(). To prepare a call, here or at the first of its kind
 * of the other functions, completes what has been started before. */
int dcoll_init(dcoll_team_t *team, const dcoll_call_t *call,
               dcoll_request_t **out);
/** Starts it, with what need not wait; it must not be under way. send may not
 * be written, recv neither read nor written until it is complete. */
int dcoll_start(dcoll_request_t *request);
/** Makes progress with all requests of the team. 0: complete, DRAIL_EAGAIN:
 *  not yet. */
int dcoll_test(dcoll_request_t *request);
/** DRAIL_ETIMEOUT when it has not got on for @p timeout_ms (< 0: those of the
 *  transport) within this call, nor has the rank that it waits for: that one
 *  makes none of the calls that it is behind, looked at every 50 ms; then the
 *  team is broken. */
int dcoll_wait(dcoll_request_t *request, int timeout_ms);
/** Collective, too: no rank may still be under way with it. Accepts NULL. What
 *  dcoll_begin gave it ends as dcoll_wait does, which needs no dcoll_free. */
int dcoll_free(dcoll_request_t *request);
/** Lets go of the buffers of one of dcoll_init that is not under way, and will
 *  not be started again: they need not stay until dcoll_free(). This rank's
 *  alone. */
int dcoll_let_go(dcoll_request_t *request);

/** Non-blocking: a request that is started. Its wait or successful test ends
 *  it; then it belongs to the team, which keeps it for later calls with the
 *  same arguments as long as it has room (dcoll_config_t.keep_bytes). Of equal
 *  calls, four may be under way: the next one completes the first and gets its
 *  handle, which then stands for the later call; both are still to be ended,
 *  and are told of an error of either. */
int dcoll_begin(dcoll_team_t *team, const dcoll_call_t *call,
                dcoll_request_t **out);

/** For who may wait for nobody in dcoll_begin: prepares all that such calls
 *  take turns on, whatever their buffers. Collective. DRAIL_ENOMEM, and none
 *  is prepared, where keep_bytes leaves no room for them. */
int dcoll_prepare(dcoll_team_t *team, const dcoll_call_t *call);
/** 0: dcoll_begin would wait for nobody; DRAIL_EAGAIN: for an equal call to be
 *  ended, as four are under way; DRAIL_ENOTSUP: for all ranks, as it is not
 *  prepared, or has been dropped: on all of them, or on none. Or an error of
 *  the call, or of the team. */
int dcoll_would_wait(dcoll_team_t *team, const dcoll_call_t *call);
/** The same for dcoll_alltoallv_begin, of what needs no bounds; of @p call
 *  algorithm and bounds count. */
int dcoll_alltoallv_prepare(dcoll_team_t *team, const dcoll_alltoallv_t *call);
int dcoll_alltoallv_would_wait(dcoll_team_t *team,
                               const dcoll_alltoallv_t *call);

/** The same for calls with counts. The arrays, and what they point to, must
 *  stay; they are read in each start, and may change when it is complete. For
 *  elements, `count` is read through @p count then, if that is not NULL. What
 *  of drail_mem_alloc send and recv lie in may stay mapped until dcoll_free(),
 *  though it has been released before. */
int dcoll_alltoallv_init(dcoll_team_t *team, const dcoll_alltoallv_t *call,
                         dcoll_request_t **out);
int dcoll_alltoallv_begin(dcoll_team_t *team, const dcoll_alltoallv_t *call,
                          dcoll_request_t **out);
int dcoll_elements_init(dcoll_team_t *team, const dcoll_elements_t *call,
                        const size_t *count, dcoll_request_t **out);
int dcoll_elements_begin(dcoll_team_t *team, const dcoll_elements_t *call,
                         dcoll_request_t **out);

/** Algorithm that serves the request. */
const dcoll_algorithm_t *
dcoll_request_algorithm(const dcoll_request_t *request);

/** Where the time of this rank's irregular all-to-alls has gone: the local
 *  work, as in figs. 20 and 22 of seed 003. What is left of the time that
 *  calls took is communication, and waiting for others. Nanoseconds, since
 *  dcoll_times_begin(). */
typedef struct dcoll_times {
    uint64_t distribute_ns; /**< DISTRIBUTE, and OFFER and PACK on a node */
    uint64_t collect_ns;    /**< COLLECT: elements into buckets by where they
                                 go */
    uint64_t deliver_ns;    /**< DELIVER: to their places in recv */
    const dcoll_algorithm_t *algorithm; /**< of the latest start, NULL: none */
} dcoll_times_t;

/** From now on the team takes its times; that costs two looks at the clock for
 *  each such operation. */
void dcoll_times_begin(dcoll_team_t *team);
/** ... no more. @p times (may be NULL): what it has taken. */
void dcoll_times_end(dcoll_team_t *team, dcoll_times_t *times);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
