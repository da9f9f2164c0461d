/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * dcoll: collective operations over the rails of dapl_rail and the shared
 * memory of each node. Comments below refer to these rules by number.
 *
 * Rules
 *  1. Same calls. All ranks of a team make the same calls in the same order:
 *     collective, form (blocking, non-blocking or persistent), bytes, root,
 *     counts, algorithm, in place or not, element of a reduction and whether
 *     it commutes. A call that only one rank makes is said to be local below.
 *     If a rank makes a different call, the ranks that wait for it return
 *     DRAIL_EINVAL, and the sentence names that rank. No data are corrupted.
 *  2. Results. A function that returns int returns 0 or a negative DRAIL_E…
 *     code. After an error dcoll_last_error() has one sentence about it. It has
 *     none about a NULL team, request or `out`, about DRAIL_EAGAIN, and about
 *     DRAIL_ENOTSUP of dcoll_would_wait().
 *  3. Broken teams. Once a call is under way, an error breaks the team: a rank
 *     died, a wait timed out, ranks made different calls. Then every call
 *     returns that error. Only dcoll_team_shrink() still works, and, on
 *     persistent requests, dcoll_free() and dcoll_let_go(). Transfers may still
 *     be going on: leave the buffers of calls under way as they are until
 *     drail_close() has returned.
 *     These errors do not break the team: a wrong argument (DRAIL_EINVAL,
 *     DRAIL_ENOTSUP; but see rule 4), an error that only tells a receiver that
 *     irregular data did not fit, and DRAIL_ENOMEM that all ranks return.
 *     A rank that runs out of memory while it prepares a call (rule 5) makes
 *     all ranks return DRAIL_ENOMEM. If it runs out before it has met the
 *     others, or when it maps memory of another rank, the team breaks.
 *  4. Wrong arguments. If only one rank passes a wrong argument, it alone
 *     returns an error, and the others wait for it. It must then make the call
 *     correctly, or tell them with dcoll_team_skip() or dcoll_team_give_up().
 *  5. Preparing. The first call of its kind prepares a request: all ranks
 *     allocate memory, exchange keys and connect. Later calls of the same form
 *     with the same arguments, in any buffers, reuse that request
 *     (dcoll_config_t.keep_bytes). dcoll_init() always prepares one, and
 *     dcoll_begin() prepares up to four. Preparing waits for all ranks, and
 *     first completes all calls that this rank has started (but see
 *     any_order).
 *  6. Threads. One thread at a time uses a team, its requests and its drail_t.
 *     Creating a team and preparing a call use *every* handle of the job: no
 *     other thread may be using one meanwhile. dcoll_team_error() may be called
 *     by any thread.
 *  7. Progress. Data move, and other ranks get their flow-control credits, only
 *     while this rank is inside library calls.
 *     If more starts are under way than DRAIL_DEPTH (the transport's queue),
 *     a rank that has completed its own must not wait for the others in
 *     drail_job_barrier() or outside the library; it must wait in a dcoll call.
 *     A call may return before its messages have arrived. If a rail then loses
 *     some, later library calls of this rank, drail_job_barrier() included,
 *     send them again; until then the receivers wait.
 *  8. Buffers. The caller owns them. Until a call is complete, send must not be
 *     written, and recv neither read nor written. Any memory will do; send may
 *     be read-only (PROT_READ). send and recv must not overlap, except by
 *     DCOLL_IN_PLACE. A buffer that a rank's part of the call does not use, or
 *     one of 0 bytes, may be NULL.
 *     Memory of drail_mem_alloc() is fastest: peers write into it, and, with
 *     DRAIL_ACCESS_REMOTE_READ, read it, without the kernel.
 *  9. Timeouts. A wait fails with DRAIL_ETIMEOUT if nothing has happened for
 *     the timeout (the transport's, unless the function takes one): this call
 *     has made no progress, none of its bytes have moved, and the rank that it
 *     waits for has neither made a call nor moved any bytes. The wait looks at
 *     that rank every 50 ms.
 *
 * Sources of the algorithms: Qian and Afsahi, "Efficient shared memory and RDMA
 * based collectives on multi-rail QsNetII SMP clusters"; Qian, Rashti and
 * Afsahi, "Multi-connection and multi-core aware all-gather on InfiniBand
 * clusters"; Liu, Wang and Prasanna, "Portable and scalable algorithm for
 * irregular all-to-all communication".
 */
#ifndef DCOLL_H
#define DCOLL_H

#include "dapl_rail/dapl_rail.h"

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---------------------------------------------------------------- teams --- */

/** All ranks of a job, for collectives. */
typedef struct dcoll_team dcoll_team_t;

/** Settings of a team. ports, port_begin, depth, zero_copy_bytes, groups, paced
 *  and any_order must be the same on all ranks: if not, the first call that
 *  they affect fails with DRAIL_EINVAL and breaks the team. */
typedef struct dcoll_config {
    unsigned ports; /**< k of the multi-port algorithms, at most
                         DRAIL_MAX_RAILS; 0: one per rail. `auto` uses one port
                         between nodes that only TCP joins: messages use all
                         rails there anyway */
    /** Hosts have different numbers of rails, or rails of different rates: rank
     *  r has port_begin[r + 1] - port_begin[r] ports, 1 to k, of N + 1 entries.
     *  Set `ports` to the most of all ranks: 0 means this rank's own rails.
     *  Long all-reduces between nodes are then divided by them. Read while the
     *  team is created; a team that dcoll_team_shrink() makes has none. NULL:
     *  all have k. Then, between more than two nodes of one rank each, `auto`
     *  divides them by the rails that each rank has left (dcoll_run). */
    const unsigned *port_begin;
    unsigned depth; /**< 1 or 2 (default): how many starts of the same call have
                         buffers at the same time. With 2, gather, reduce to a
                         root, scatter and broadcast of short blocks get more:
                         up to 256 within a node, up to 32 between nodes (at
                         most half of DRAIL_DEPTH), in at most 512 KiB. So do
                         scan and exscan within a node */
    size_t zero_copy_bytes; /**< a call that names its algorithm sends blocks of
                                 at least so many bytes from the user's buffers,
                                 and receives them there, without a copy, if the
                                 algorithm can; SIZE_MAX: never. Default:
                                 16 KiB. `auto` decides itself, but between
                                 nodes, without a table, it copies shorter
                                 blocks */
    unsigned groups;        /**< groups per node of all-gather `mc-groups`; 0:
                                 that algorithm's default */
    bool paced;             /**< complete each step before the next one, as in
                                 the papers (dcoll_args_t.paced). Slower;
                                 default: false */
    const char *table;      /**< path of a file written by `railbench tune`, by
                                 which `auto` chooses; read while the team is
                                 created. NULL: built-in rules. They also apply
                                 if the file cannot be read, is malformed or is
                                 not for this machine, or if not all ranks have
                                 the same rows: rank 0 then writes a line to
                                 stderr */
    size_t keep_bytes;      /**< most bytes of requests that the team keeps for
                                 reuse (rule 5), beside the latest one and those
                                 of dcoll_init(); the smallest of all ranks is
                                 used. Default: 64 MiB */
    /** Called repeatedly, at least once every few milliseconds, while this rank
     *  waits for others inside a call. Set it if something else must make
     *  progress meanwhile, such as an MPI library. It must not make any call on
     *  this team. NULL: nothing is called. */
    void (*idle)(void *context);
    void *idle_context; /**< the argument of idle */
    /** true: each rank may start its requests of dcoll_init() in any order,
     *  also relative to other calls (MPI 4). Then preparing a call does not
     *  complete them (rule 5), and their starts are not compared (rule 1): a
     *  start that one rank leaves out ends in a timeout of the others. */
    bool any_order;
    /** true (default): between nodes that only TCP joins, `auto` learns which
     *  algorithm is fastest for blocking all-gathers, all-to-alls and
     *  broadcasts. Within one node whose ranks may read each other's memory, it
     *  learns so for all-gathers and all-to-alls whose blocks have 64 KiB or
     *  more; non-blocking calls then use that, too, but for those that are
     *  prepared. In a size class (a power of two), after 32 calls of one size,
     *  up to three algorithms make the next calls in turn, at most 45. Ranks
     *  then wait for each other before each call, and the first calls of an
     *  algorithm prepare a request (rule 5). false, also on one rank only, or
     *  with a table: the algorithm never changes. */
    bool learn;
} dcoll_config_t;

/** Sets the defaults. */
void dcoll_config_init(dcoll_config_t *cfg);

/**
 * Creates a team of all ranks of a job. All ranks call it. If one rank has no
 * memory or refuses its arguments, all ranks fail; but a rank that passes NULL
 * as @p job, @p rail or @p out fails alone. If one rank cannot connect, others
 * may succeed: their first call that waits for that rank fails.
 * Consecutive ranks on the same node of the job form a node of the team. Ranks
 * of several nodes connect to those at distances of powers of two; all other
 * connections are made when a call is prepared that needs them.
 * @param job  must outlive the team.
 * @param rail an open transport of this job; must outlive the team. It serves
 *             one team at a time, and the team takes all its notifications.
 * @param cfg  copied; NULL: the defaults.
 * @param out  set on success only; free it with dcoll_team_free().
 * @param err  filled on failure; may be NULL.
 * @return 0; DRAIL_EINVAL, DRAIL_ENOMEM, DRAIL_EPEER, DRAIL_ETIMEOUT,
 *         DRAIL_EJOB, or another error of the transport.
 */
int dcoll_team_create(drail_job_t *job, drail_t *rail,
                      const dcoll_config_t *cfg, dcoll_team_t **out,
                      drail_error_t *err);
/** Frees a team and its remaining requests. Local. Call it before drail_close()
 *  and drail_job_leave(), and only when no other rank is still inside a
 *  collective of this team: dcoll_barrier() before it makes sure. After an
 *  error that has broken the team, it waits 0.2 seconds at most for ranks that
 *  may be inside the team's own memory. drail_close() then frees that memory,
 *  and may wait for these ranks instead. If requests remain, it waits for ranks
 *  that may be inside their buffers: up to a second for each buffer and rail.
 *  NULL: does nothing. */
void dcoll_team_free(dcoll_team_t *team);

/**
 * Makes a team of the ranks that are left when others have died. All survivors
 * call it, after a call on the team has failed; it breaks the team if it is not
 * broken yet, so that ranks that wait for this one get an error, and call it,
 * too. The ranks of the new team are those of the old one without the dead, in
 * the same order: dcoll_team_peer(). All survivors get the same ranks, also if
 * more ranks die meanwhile.
 *
 * A rank is dead if its connection has ended, or was never made, and this rank
 * can't connect to it: nobody answers at its address, no rail reaches it, or it
 * lacks resources for the connection. A network partition looks the same: then
 * the ranks on each side may get a team of their own, and return 0. If only one
 * team may go on (it writes a file, say), compare the new team's size to the
 * old one's: go on only with more than half of the ranks.
 *
 * Meanwhile this rank connects to all survivors. The team is made over their
 * connections, and its calls need no all-gather of the job. The job must go on
 * after the death: set drail_job_config_t.grace_ms, and let rank 0 of a
 * launched job live, else calls return DRAIL_EINTR.
 * @param team it stays broken; free it with dcoll_team_free(), before or after
 *             the new one.
 * @param out  set on success only; free it with dcoll_team_free().
 * @return 0; DRAIL_EINVAL; DRAIL_ENOMEM; DRAIL_EJOB: other ranks count this one
 * as dead; DRAIL_ETIMEOUT: a rank does not call it within the transport's
 * timeout, and is not known to be dead; DRAIL_EINTR; DRAIL_ENOTSUP: the job is
 * simulated; or an error of dcoll_team_create(). dcoll_last_error() of the old
 * team has the sentence. After an error it must not be called again.
 */
int dcoll_team_shrink(dcoll_team_t *team, dcoll_team_t **out);
/** The rank, in the job of the team's rails, that is rank @p rank of the team;
 * UINT_MAX: there is no such rank. */
unsigned dcoll_team_peer(const dcoll_team_t *team, unsigned rank);

/** Ranks, nodes and ports of the team; valid until it is freed. */
const dcoll_shape_t *dcoll_team_shape(const dcoll_team_t *team);
/** The team's settings (keep_bytes: as used; table: NULL); valid until it is
 *  freed. */
const dcoll_config_t *dcoll_team_config(const dcoll_team_t *team);
/** The sentence of the latest error; "" if there was none. Valid until the next
 *  call on the team. */
const char *dcoll_last_error(const dcoll_team_t *team);
/** 0, or the error that has broken the team (rule 3). */
int dcoll_team_error(const dcoll_team_t *team);
/** Breaks the team, for a rank that cannot go on. Local. Ranks that wait for
 *  this rank, now or later, return @p code (not 0), and their sentence contains
 *  @p why (not NULL; its first 195 bytes are copied). Does nothing if the team
 *  is broken already. */
void dcoll_team_give_up(dcoll_team_t *team, int code, const char *why);
/** Records that this rank leaves out one call and goes on with the next one
 *  (rule 4). Local. This rank's next call, unless it may be made in any order,
 *  first waits until all ranks have skipped the same call. If a rank has made
 *  it, that next call returns DRAIL_EINVAL, and the team breaks; so do the
 *  calls of ranks that wait for this one. A rank that need not wait for this
 *  one, as the root of a broadcast, may complete some calls before. */
void dcoll_team_skip(dcoll_team_t *team);

/* ---------------------------------------------------------- reductions --- */

/**
 * The element and the operation of a reduction. The operation must be
 * associative, or nearly so, as floating-point + is. If it does not commute,
 * operands are combined in the order of ranks. How they are bracketed, and the
 * order if the operation commutes, depend on the algorithm, on bytes and on the
 * team. They are the same in equal calls, so the results are equal bit by bit;
 * and in an all-reduce they are the same on all ranks.
 */
typedef struct dcoll_reduction {
    size_t element; /**< bytes, at least 1; the same on all ranks */
    /** Sets result[i] = left[i] op right[i] for all i < @p count elements; left
     *  comes from lower ranks, unless it commutes. result is left, or right, or
     *  overlaps neither.
     *  If element is a power of two, operands are aligned as the call's buffers
     *  are, up to 64 bytes. It must make no call on the team, and must return
     *  soon: other ranks wait for this one (rule 9). */
    void (*combine)(void *context, const void *left, const void *right,
                    void *result, size_t count);
    void *context; /**< the argument of combine */
    bool commutes; /**< left op right = right op left: more algorithms may serve
                        it; the same on all ranks */
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

/** Sums and products of signed integers wrap around. SUM or PROD of two NaNs is
 *  the left one, made quiet. MIN or MAX with a NaN operand may be either
 *  operand. Logical operators give 0 or 1. */
typedef enum dcoll_operator {
    DCOLL_SUM,
    DCOLL_PROD,
    DCOLL_MIN,
    DCOLL_MAX,
    DCOLL_LAND,
    DCOLL_LOR,
    DCOLL_LXOR,
    DCOLL_BAND, /**< bitwise; this and the next two: integers only */
    DCOLL_BOR,
    DCOLL_BXOR,
    DCOLL_OPERATORS
} dcoll_operator_t;

/** The reduction of a basic type; constant, never freed. NULL: that type does
 *  not have this operator. Any thread. */
const dcoll_reduction_t *dcoll_reduction(dcoll_type_t type,
                                         dcoll_operator_t op);

/* ------------------------------------------ collectives of equal blocks --- */

/** A value of `send` or `recv`: the rank's own block is already in its place.
 *  As send: all-gather, all-reduce, and all-to-all (recv holds the blocks to be
 *  sent), on all ranks or on none; gather and reduce, at the root only; scan,
 *  exscan and reduce-scatter, on any rank. In a reduce-scatter, recv then holds
 *  the N blocks to be combined, and its first block gets the result.
 *  As recv: scatter, at the root only; its block stays in send. */
#define DCOLL_IN_PLACE ((void *)-1)

/** A call with equal blocks, or with counts. N is the number of ranks. */
typedef struct dcoll_call {
    dcoll_collective_t collective;
    const void *send; /**< rule 8; or DCOLL_IN_PLACE. Blocks: root of a scatter,
                           all-to-all and reduce-scatter N; other ranks of a
                           scatter none; broadcast: not used; else 1 */
    void *recv;       /**< rule 8. Blocks: root of a gather, all-gather and
                           all-to-all N; root of a reduce, scatter, all-reduce,
                           reduce-scatter and scans 1 (exscan: not used on rank
                           0); broadcast: 1, on the root the source */
    size_t bytes;     /**< of one block; of a reduction: a multiple of element;
                           0 … PTRDIFF_MAX / 64 / N. 0 with counts */
    unsigned root;    /**< gather, broadcast, scatter, reduce: a rank */
    const char *algorithm; /**< a name of dcoll_algorithms(); NULL or "auto":
                                the team chooses */
    const dcoll_reduction_t *reduction; /**< of reductions: copied, but not
                                             what its context points to: that
                                             must stay until the call is
                                             complete or, with dcoll_init(),
                                             until the request is freed */
    const size_t *counts; /**< gather, all-gather, scatter, reduce-scatter:
                               NULL, or blocks of different sizes: one entry
                               for each rank, the same on all ranks: bytes of
                               its block, of a reduce-scatter elements. Copied
                               */
} dcoll_call_t;

/*
 * Blocking calls. All ranks call them (rule 1); they return when this rank's
 * part is complete. `bytes` is the size of one block; blocks are in the order
 * of ranks. Errors: DRAIL_EINVAL, DRAIL_ENOTSUP (the algorithm refuses this
 * team), DRAIL_ENOMEM, DRAIL_EPEER, DRAIL_ETIMEOUT (rule 9), or another error
 * of the transport. Rules 3 and 4 say which of them break the team.
 *
 * Registering a buffer for one call takes long. So within a node `auto` copies
 * through shared memory, or, for long blocks, lets ranks read each other's
 * memory through the kernel. Buffers of drail_mem_alloc() are read over the
 * rails then. If the same call is made often with more than some KB, a
 * persistent request is faster.
 */

/** The root's recv gets one block from each rank. */
int dcoll_gather(dcoll_team_t *team, const void *send, void *recv, size_t bytes,
                 unsigned root);
/** Every rank's recv gets one block from each rank. */
int dcoll_allgather(dcoll_team_t *team, const void *send, void *recv,
                    size_t bytes);
/** Block i of send goes to rank i; block i of recv comes from rank i. */
int dcoll_alltoall(dcoll_team_t *team, const void *send, void *recv,
                   size_t bytes);
/** @p buffer of the root goes to @p buffer of all other ranks. */
int dcoll_bcast(dcoll_team_t *team, void *buffer, size_t bytes, unsigned root);
/** Block i of the root's send goes to recv of rank i. */
int dcoll_scatter(dcoll_team_t *team, const void *send, void *recv,
                  size_t bytes, unsigned root);
/** Returns when all ranks have called it. */
int dcoll_barrier(dcoll_team_t *team);
/** Combines send of all ranks into the root's recv: @p count elements. */
int dcoll_reduce(dcoll_team_t *team, const void *send, void *recv, size_t count,
                 const dcoll_reduction_t *reduction, unsigned root);
/** Combines send of all ranks into recv of every rank: @p count elements. */
int dcoll_allreduce(dcoll_team_t *team, const void *send, void *recv,
                    size_t count, const dcoll_reduction_t *reduction);
/** Combines send of all ranks, N blocks of @p count elements each; recv of rank
 *  i gets block i of the result. */
int dcoll_reduce_scatter_block(dcoll_team_t *team, const void *send, void *recv,
                               size_t count,
                               const dcoll_reduction_t *reduction);
/** As dcoll_allgather(), with @p counts[i] bytes from rank i. The counts are
 * the same on all ranks (rule 1); blocks in recv follow each other without
 * gaps. A request is prepared for its counts: with other counts in each call,
 *  dcoll_alltoallv() is faster. */
int dcoll_allgatherv(dcoll_team_t *team, const void *send, void *recv,
                     const size_t *counts);
/** As dcoll_gather(), with @p counts[i] bytes from rank i. The counts are the
 *  same on all ranks (rule 1), as in dcoll_allgatherv(). */
int dcoll_gatherv(dcoll_team_t *team, const void *send, void *recv,
                  const size_t *counts, unsigned root);
/** As dcoll_scatter(), with @p counts[i] bytes for rank i, the same on all
 *  ranks (rule 1). Blocks in send follow each other without gaps. */
int dcoll_scatterv(dcoll_team_t *team, const void *send, void *recv,
                   const size_t *counts, unsigned root);
/** As dcoll_reduce_scatter_block(), with @p counts[i] elements for rank i, the
 *  same on all ranks (rule 1). */
int dcoll_reduce_scatter(dcoll_team_t *team, const void *send, void *recv,
                         const size_t *counts,
                         const dcoll_reduction_t *reduction);
/** Combines send of ranks 0 … i into recv of rank i: @p count elements. */
int dcoll_scan(dcoll_team_t *team, const void *send, void *recv, size_t count,
               const dcoll_reduction_t *reduction);
/** Combines send of ranks 0 … i - 1 into recv of rank i: @p count elements.
 *  recv of rank 0 is not written. */
int dcoll_exscan(dcoll_team_t *team, const void *send, void *recv, size_t count,
                 const dcoll_reduction_t *reduction);
/**
 * Makes any of these calls, with any algorithm.
 *
 * If a rank has lost a rail, or it is back, long all-reduces of `auto` are
 * planned anew: the next one of 16 MiB or more, shorter ones after so many
 * bytes. A sum that rounds may then round differently.
 */
int dcoll_run(dcoll_team_t *team, const dcoll_call_t *call);

/* ------------------------------------------------ irregular all-to-all --- */

/**
 * An all-to-all in which each rank sends any number of elements to each other
 * rank, as MPI_Alltoallv does (source: Liu, Wang and Prasanna). Counts are each
 * rank's own; rule 1 holds for element, max_pair, max_rank and algorithm.
 * Arrays have one entry per rank; counts and displacements are in elements. A
 * rank without elements may pass NULL as send or recv (with room 0, if there
 * are no recv_counts) and any displacements.
 * There is no DCOLL_IN_PLACE. In a simulated job without payload these calls
 * return DRAIL_ENOTSUP.
 *
 * Bounds. Set max_pair and max_rank both or neither. If they are set, a call
 * begins at once; counts beyond them are a wrong argument of this rank alone
 * (rule 4). If both are 0, the ranks first agree on bounds: a blocking or
 * non-blocking call waits for all ranks there. Then a wrong argument of one
 * rank is returned by all ranks, and so are send and receive counts that do not
 * match. No agreement is needed within one node (`auto`), or with algorithm
 * `direct`: there, too, all ranks return a wrong argument of one. A persistent
 * request needs bounds. Algorithm `birkhoff` refuses them (DRAIL_ENOTSUP): its
 * calls are planned from the counts of all ranks, which the ranks gather then.
 *
 * Data that do not fit are an error, DRAIL_EINVAL, of the receiver only: other
 * counts than recv_counts, or more than `room` or max_rank. If the counts
 * are the cause, the sentence names the sender. Nothing is written to recv; the
 * other ranks complete the call, and the team goes on. (In MPI recv may then
 * hold anything, and fewer data than expected are no error.)
 */
typedef struct dcoll_alltoallv {
    const void *send;
    const size_t *send_counts; /**< for each rank, at most UINT32_MAX each */
    const size_t *send_displs; /**< begin of each rank's elements in send; NULL:
                                    one after the other */
    void *recv;
    const size_t *recv_counts; /**< expected from each rank; NULL: whatever
                                    comes, up to `room` */
    const size_t *recv_displs; /**< begin of each rank's elements in recv; must
                                    not overlap; only with recv_counts. NULL:
                                    one after the other */
    size_t room;     /**< without recv_counts: elements that recv has room for,
                          at most PTRDIFF_MAX bytes */
    size_t *found;   /**< filled with the number received from each rank; may be
                          NULL */
    size_t element;  /**< bytes, 1 … UINT32_MAX */
    size_t max_pair; /**< bound: elements from one rank to another */
    size_t max_rank; /**< bound: elements that one rank sends, or receives */
    const char *algorithm; /**< a name of dcoll_algorithms_irregular(); NULL or
                                "auto": the team chooses */
} dcoll_alltoallv_t;

/** An all-to-all of elements that contain their destination; they arrive in any
 *  order. Bounds, agreement and errors: as dcoll_alltoallv_t; but without
 *  bounds the ranks always agree, and all algorithms but `direct` can be named.
 */
typedef struct dcoll_elements {
    const void *send;
    size_t count; /**< elements in send */
    void *recv;
    size_t room;        /**< elements that recv has room for */
    size_t *received;   /**< set to the number received; may be NULL */
    size_t element;     /**< bytes, 4 … UINT32_MAX */
    size_t destination; /**< offset in an element of its destination rank: a
                             uint32_t in this machine's byte order, aligned or
                             not */
    size_t max_pair, max_rank; /**< bounds */
    const char *algorithm;     /**< as that of dcoll_alltoallv_t */
} dcoll_elements_t;

/** Blocking irregular all-to-all with counts. */
int dcoll_alltoallv(dcoll_team_t *team, const dcoll_alltoallv_t *call);
/** Blocking irregular all-to-all of elements with destinations. */
int dcoll_alltoall_elements(dcoll_team_t *team, const dcoll_elements_t *call);

/* ---------------------------------------------------- neighbourhoods --- */

/** A block for a neighbour, or from one. */
typedef struct dcoll_block {
    unsigned rank; /**< the neighbour, perhaps this rank itself */
    size_t begin;  /**< offset of the block in send or recv, in bytes; ignored
                        if it has none */
    size_t bytes;  /**< all blocks of one rank have at most UINT32_MAX */
} dcoll_block_t;

/**
 * An exchange with neighbours, as MPI_Neighbor_alltoallv does. Each rank lists
 * the blocks that it sends and those that it gets. If rank b lists rank a as a
 * source, rank a lists rank b as a destination. Blocks to be sent may overlap:
 * if all are the same block, this is MPI_Neighbor_allgatherv. Blocks to be
 * received must not overlap.
 *
 * A rank may be listed several times. Then the first block that rank a lists
 * for rank b is the first one that rank b lists for rank a, and so on. All
 * these blocks together must have as many bytes at both ends. If they do not
 * follow each other in the buffer, the library copies them once more.
 *
 * Errors: as dcoll_alltoallv_t without bounds. All ranks return a wrong
 * argument of one. If a rank's sources do not match what other ranks have for
 * it, the receiver returns DRAIL_EINVAL, and its sentence names the other rank;
 * nothing is written to its recv. Between nodes all ranks return an error then.
 * There is no DCOLL_IN_PLACE.
 */
typedef struct dcoll_neighbor_alltoallv {
    const void *send;
    unsigned ndestinations; /**< blocks to be sent; may be 0 */
    const dcoll_block_t *destinations;
    void *recv;
    unsigned nsources; /**< blocks to be received; may be 0 */
    const dcoll_block_t *sources;
    const char *algorithm; /**< as that of dcoll_alltoallv_t */
} dcoll_neighbor_alltoallv_t;

/** Blocking exchange with neighbours. All ranks of the team call it, also those
 *  without neighbours. */
int dcoll_neighbor_alltoallv(dcoll_team_t *team,
                             const dcoll_neighbor_alltoallv_t *call);

/* ------------------------------------- persistent and non-blocking --- */

/**
 * A call that is prepared (rule 5) and can be started.
 *  - Persistent: dcoll_init() makes it, the caller owns it, dcoll_start()
 *    starts it as often as wanted, dcoll_free() frees it.
 *  - Non-blocking: dcoll_begin() starts it and gives a handle. The caller
 *    completes each handle exactly once with dcoll_wait() or a dcoll_test()
 *    that does not return DRAIL_EAGAIN, and does not use it after that.
 */
typedef struct dcoll_request dcoll_request_t;

/** Prepares a persistent request. All ranks call it (rule 1).
 *  The buffers must stay until dcoll_free() or dcoll_let_go(). Starting the
 *  request allocates nothing, with two exceptions: the shm provider maps a
 *  peer's memory at the first transfer to it, and a connection grows its
 *  journal when more messages are under way than ever before. */
int dcoll_init(dcoll_team_t *team, const dcoll_call_t *call,
               dcoll_request_t **out);
/** Starts a persistent request and returns without waiting. All ranks call it
 *  in the same order (rule 1), unless any_order is set. Rule 8 holds until it
 * is complete. DRAIL_EINVAL, and nothing happens, if it is under way already.
 */
int dcoll_start(dcoll_request_t *request);
/** Makes progress with all requests of the team. Returns 0 if this one is
 *  complete or was never started, DRAIL_EAGAIN if not, or an error. Local. */
int dcoll_test(dcoll_request_t *request);
/** Waits until a request is complete, at most @p timeout_ms (rule 9) within
 *  this call; < 0: the transport's timeout. A timeout breaks the team, also one
 *  of 0: to poll, use dcoll_test(). Returns 0 at once if it was never started.
 *  Local. */
int dcoll_wait(dcoll_request_t *request, int timeout_ms);
/** Frees a persistent request; waits first if it is under way. All ranks call
 *  it, in any order with other calls, but only when no rank is still inside a
 *  start of this request. NULL: does nothing. A handle of dcoll_begin() is
 *  completed, as by dcoll_wait(). Returns the error of that wait, or DRAIL_E…
 *  if a peer still accesses the buffers, which breaks the team. The request is
 *  freed in either case. */
int dcoll_free(dcoll_request_t *request);
/** Releases the buffers of a persistent request that will not be started again:
 *  they need not stay until dcoll_free(). Local. DRAIL_EINVAL if it is under
 *  way. */
int dcoll_let_go(dcoll_request_t *request);

/** Starts a non-blocking call. All ranks call it (rule 1). Equal calls use four
 *  requests in turn. So it waits for other ranks in three cases only:
 *   - It prepares a request (rule 5). Each of the first four equal calls does,
 *     unless dcoll_prepare() has prepared them.
 *   - The fourth equal call before it is still under way: it first completes
 *     that one, even if the three after that are complete.
 *   - This rank has skipped a call (dcoll_team_skip()).
 *  If the caller has not completed the handle of that fourth call, it returns
 *  this handle again, which now stands for both calls: complete it once for
 *  each. An error of either call is returned for both.
 *  A completed request is kept for later calls (dcoll_config_t.keep_bytes). */
int dcoll_begin(dcoll_team_t *team, const dcoll_call_t *call,
                dcoll_request_t **out);

/** Prepares the four requests that equal calls of dcoll_begin() use, so that
 *  these do not wait. All ranks call it (rule 1). The buffers of @p call are
 *  checked but not used. DRAIL_ENOMEM if keep_bytes leaves no room for all
 * four; dcoll_would_wait() then returns DRAIL_ENOTSUP. */
int dcoll_prepare(dcoll_team_t *team, const dcoll_call_t *call);
/** Tells whether dcoll_begin() would wait for other ranks. Local.
 *  @return 0: it would not; DRAIL_EAGAIN: it would wait for the other ranks to
 *  skip a call, as this one has; or it would wait, or return a handle again,
 *  until the caller has completed the fourth equal call before it;
 *  DRAIL_ENOTSUP: it would prepare a request, on all ranks; or an error of the
 *  call or of the team. */
int dcoll_would_wait(dcoll_team_t *team, const dcoll_call_t *call);
/** dcoll_prepare() for dcoll_alltoallv_begin(). Of @p call, only algorithm and
 *  bounds are used. DRAIL_ENOTSUP if such a call needs bounds, or has some. */
int dcoll_alltoallv_prepare(dcoll_team_t *team, const dcoll_alltoallv_t *call);
/** dcoll_would_wait() for dcoll_alltoallv_begin(). */
int dcoll_alltoallv_would_wait(dcoll_team_t *team,
                               const dcoll_alltoallv_t *call);

/** Prepares a persistent irregular all-to-all. The structure is copied. The
 *  arrays, buffers and variables that it points to must stay until
 * dcoll_free(); each start reads them anew, and they may change while none is
 * under way. After the caller has released memory of drail_mem_alloc() that
 * send or recv lie in, it may stay mapped until dcoll_free(). */
int dcoll_alltoallv_init(dcoll_team_t *team, const dcoll_alltoallv_t *call,
                         dcoll_request_t **out);
/** Starts a non-blocking irregular all-to-all (see dcoll_begin()). The arrays
 *  must stay until it is complete. */
int dcoll_alltoallv_begin(dcoll_team_t *team, const dcoll_alltoallv_t *call,
                          dcoll_request_t **out);
/** Prepares a persistent exchange with neighbours. All ranks call it (rule 1)
 *  and agree on what they exchange, so bounds are not needed. The lists are
 *  copied; the buffers must stay until dcoll_free(). */
int dcoll_neighbor_alltoallv_init(dcoll_team_t *team,
                                  const dcoll_neighbor_alltoallv_t *call,
                                  dcoll_request_t **out);
/** Starts a non-blocking exchange with neighbours (see dcoll_begin()). The
 *  lists are copied. dcoll_alltoallv_prepare() and dcoll_alltoallv_would_wait()
 *  serve these calls, too. */
int dcoll_neighbor_alltoallv_begin(dcoll_team_t *team,
                                   const dcoll_neighbor_alltoallv_t *call,
                                   dcoll_request_t **out);
/** As dcoll_alltoallv_init(), for elements with destinations.
 *  Each start reads the number of elements at @p count; NULL: it is always
 *  that of @p call. */
int dcoll_elements_init(dcoll_team_t *team, const dcoll_elements_t *call,
                        const size_t *count, dcoll_request_t **out);
/** As dcoll_alltoallv_begin(), for elements with destinations. */
int dcoll_elements_begin(dcoll_team_t *team, const dcoll_elements_t *call,
                         dcoll_request_t **out);

/** The algorithm that serves a request; constant. */
const dcoll_algorithm_t *
dcoll_request_algorithm(const dcoll_request_t *request);

/** The time that this rank's irregular all-to-alls spend on local work, as in
 *  figures 20 and 22 of Liu, Wang and Prasanna. The rest of a call's time is
 *  communication and waiting, and operations EXPECT and PICK, by which some
 *  algorithms read and move elements. Nanoseconds since dcoll_times_begin(). */
typedef struct dcoll_times {
    uint64_t distribute_ns; /**< operations DISTRIBUTE, OFFER and PACK */
    uint64_t collect_ns;    /**< operation COLLECT */
    uint64_t deliver_ns;    /**< operation DELIVER */
    const dcoll_algorithm_t *algorithm; /**< of the latest start of any call;
                                             NULL: none */
    bool learning; /**< after more calls like the latest blocking one, `auto`
                        may take another algorithm (dcoll_config_t.learn) */
} dcoll_times_t;

/** Sets the times to 0 and begins to take them: two readings of the clock for
 *  each such operation. Local. */
void dcoll_times_begin(dcoll_team_t *team);
/** Stops taking times, and fills @p times, which may be NULL. Local. */
void dcoll_times_end(dcoll_team_t *team, dcoll_times_t *times);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
