/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls by libdcoll. */
#ifndef MPI_RUN_H
#define MPI_RUN_H

#include "mpi/comm/comm.h"

/* Returned in place of an MPI error: the MPI below must make the call, as a
 * rank has no memory for it. All ranks get it. */
#define LEFT_TO_MPI (-1)

/* ---- run.c ---- */

/* The same call, if the latest of its collective was; else NULL. */
const struct repeated_call *repeated_find(const struct layer_comm *c,
                                          const struct layer_call *call);
/* Makes a call, with blocks of so many bytes. An MPI error, which the
 * communicator's handler has been told of; or LEFT_TO_MPI. @call: if
 * repeated_find found it, the one inside its result. */
int dcoll_side_run(struct layer_comm *c, const struct layer_call *call,
                   size_t bytes);

/* ---- regular.c ---- */

/* Makes a call with equal blocks. An MPI error, or LEFT_TO_MPI. */
int regular_run(struct layer_comm *c, const struct layer_call *call,
                size_t bytes);
/* Are the types predefined and contiguous, of the sides that this rank uses? */
bool regular_stays_contiguous(const struct layer_comm *c,
                              const struct layer_call *call);
/* The call of libdcoll on the program's buffers, which are contiguous. */
dcoll_call_t regular_plain(const struct layer_comm *c,
                           const struct layer_call *call, size_t bytes);
/* The same without buffers: send and recv only say which sides this rank has.
 */
dcoll_call_t regular_shape(const struct layer_comm *c,
                           const struct layer_call *call, size_t bytes);

/* A call that does not block. It holds on to its datatypes. MPI errors. */
struct regular;
int regular_open(const struct layer_comm *c, const struct layer_call *call,
                 size_t bytes, struct regular **out);
/* Packs the data to send; at each start. */
int regular_pack(const struct layer_comm *c, struct regular *r);
const dcoll_call_t *regular_call(const struct regular *r);
/* Unpacks the data received, at the end. */
int regular_unpack(const struct layer_comm *c, const struct regular *r);
/* verify: the same call for the MPI below, into a buffer of its own, … */
int regular_expect(const struct layer_comm *c, struct regular *r,
                   struct layer_call *below);
/* … which is compared with what libdcoll has received. */
void regular_compare(const struct layer_comm *c, const struct regular *r);
void regular_close(struct regular *r);

/* ---- irregular.c ---- */

/* Makes a call. An MPI error, or LEFT_TO_MPI. */
int irregular_run(struct layer_comm *c, const struct layer_call *call);

/* A call of libdcoll that serves blocks of any sizes: one of these. */
struct exchange {
    bool of_neighbors;
    dcoll_alltoallv_t among_all;
    dcoll_neighbor_alltoallv_t among_neighbors;
};

/* A call that does not block: as those of regular.c. */
struct irregular;
/* @counted: as counted_is_repeated. */
int irregular_open(const struct layer_comm *c, const struct layer_call *call,
                   bool counted, struct irregular **out);
int irregular_pack(const struct layer_comm *c, struct irregular *o);
/* Has this rank blocks of 2 GiB or more? They are begun in the order of the
 * calls, and complete independently of libdcoll. */
bool irregular_has_long(const struct irregular *o);
int irregular_begin_long(const struct layer_comm *c, struct irregular *o);
int irregular_test_long(struct irregular *o, int *done);
const struct exchange *irregular_exchange(const struct irregular *o);
/* By a collective of libdcoll's own, with these counts. NULL: by the above. */
const dcoll_call_t *irregular_counted(const struct irregular *o);
/* The ranks agree on the counts of a persistent call, if its collective is
 * counted_can. 0; DRAIL_ENOMEM, on all ranks; or another error of libdcoll. */
int irregular_agree(struct layer_comm *c, struct irregular *o);
/* *pair: the most bytes between this rank and another one. *rank: the bytes
 * that it sends, or receives, whichever is more. */
void irregular_bounds(const struct layer_comm *c, const struct irregular *o,
                      unsigned long long *pair, unsigned long long *rank);
int irregular_unpack(const struct layer_comm *c, const struct irregular *o);
/* verify: the MPI below sends each block, too, as a message, which
 * irregular_test_long() waits for. */
int irregular_begin_check(const struct layer_comm *c, struct irregular *o,
                          MPI_Comm comm);
void irregular_compare(const struct layer_comm *c, const struct irregular *o);
void irregular_close(struct irregular *o);

/* ---- counted.c ---- */

struct blocks;
/* Has libdcoll such a collective of its own? */
bool counted_can(int collective);
/* Shall it make the call, rather than its all-to-all? The same on all ranks.
 * Notes the counts in c->gathered. */
bool counted_is_repeated(struct layer_comm *c, const struct layer_call *call);
/* The call of libdcoll without buffers, by c->gathered. */
dcoll_call_t counted_shape(const struct layer_comm *c,
                           const struct layer_call *call);
/* Fills @counts: bytes of each rank's block. 0, or an error of libdcoll. If
 * this rank's arguments differ from what another rank says, the team ends. */
int counted_agree(struct layer_comm *c, const struct layer_call *call,
                  struct blocks *send, struct blocks *recv, size_t *counts);
/* Lays out the blocks as libdcoll needs them, packed into @buffer if they are
 * not so in the program's memory. An MPI error. */
int counted_place(const struct layer_comm *c, const struct layer_call *call,
                  struct blocks *send, struct blocks *recv,
                  const size_t *counts, struct buffer *buffer);
/* Packs the data to send; after counted_place. An MPI error. */
int counted_pack(const struct layer_comm *c, const struct layer_call *call,
                 const struct blocks *send, const struct blocks *recv,
                 const size_t *counts);
dcoll_call_t counted_call(const struct layer_comm *c,
                          const struct layer_call *call,
                          const struct blocks *send, const struct blocks *recv,
                          const size_t *counts);
/* The counts of a blocking call, if libdcoll shall make it by a collective of
 * its own; else NULL. The same on all ranks, which tell each other their counts
 * if they must. @can: this rank can make the call; its blocks are set. */
const size_t *counted_counts(struct layer_comm *c,
                             const struct layer_call *call, bool can,
                             struct blocks *send, struct blocks *recv);
/* What counted_counts reserves for each rank, in bytes. */
size_t counted_told_bytes(void);
/* Makes a blocking call with these counts, after counted_place. @send: packed.
 * An MPI error, or LEFT_TO_MPI. */
int counted_run(struct layer_comm *c, const struct layer_call *call,
                const struct blocks *send, const struct blocks *recv,
                const size_t *counts);

/* ---- long_blocks.c ---- */

/* Messages under way. Contents: zeros. */
struct long_blocks {
    MPI_Request *all;
    int n;
};
/* MPI errors. */
int long_blocks_send(struct long_blocks *l, MPI_Comm comm, const void *data,
                     MPI_Count count, MPI_Datatype type, int to);
int long_blocks_receive(struct long_blocks *l, MPI_Comm comm, void *data,
                        MPI_Count count, MPI_Datatype type, int from);
int long_blocks_test(struct long_blocks *l, int *done);
int long_blocks_wait(struct long_blocks *l);
/* After an error: cancels those under way. */
void long_blocks_drop(struct long_blocks *l);

/* ---- reduce.c ---- */

#define REDUCE_MOST (16 << 20) /* bytes of a rank */

/* Are type and operation supported, and the elements contiguous? */
bool reduce_can(const struct layer_call *call);
/* libdcoll's own reduction. NULL: it has none, or the call is no reduction. */
const dcoll_reduction_t *reduce_basic(const struct layer_call *call);
/* Is the result the same in any order of the operands? Otherwise the result
 * depends on the side that makes the call, so a clock may not choose it. */
bool reduce_is_exact(const struct layer_call *call);
/* Does this rank get a result, a block at the begin of recv? */
bool reduce_has_result(const struct layer_comm *c,
                       const struct layer_call *call);
/* Has each rank a block of its own in it? */
bool reduce_has_blocks(int collective);
/* The bytes that this rank gives, and those of its result. @bytes: of a block.
 */
size_t reduce_given_bytes(const struct layer_comm *c,
                          const struct layer_call *call, size_t bytes);
size_t reduce_result_bytes(const struct layer_comm *c,
                           const struct layer_call *call, size_t bytes);
/* Fills @counts with the elements of each rank's block, and returns it. NULL:
 * all have the same. */
const size_t *reduce_counts(const struct layer_comm *c,
                            const struct layer_call *call, size_t *counts);
/* The collective of libdcoll that makes the reduction. */
dcoll_collective_t reduce_collective(const struct layer_call *call);
/* Is the call a reduction that is not exact? */
bool reduce_rounds(const struct layer_call *call);
/* verify: the same call for the MPI below, into @recv. */
struct layer_call reduce_below(const struct layer_comm *c,
                               const struct layer_call *call, void *recv);
/* Makes a reduction of so many bytes. An MPI error, or LEFT_TO_MPI. */
int reduce_run(struct layer_comm *c, const struct layer_call *call,
               size_t bytes);

/* ---- datatype.c ---- */

/* Bytes of so many elements; -1: wrong arguments. */
int64_t datatype_bytes(MPI_Count count, MPI_Datatype type);
/* Do elements follow each other in memory without gaps, in type order? */
bool datatype_is_contiguous(MPI_Datatype type);
/* The same for a predefined type that has just been asked for; cheap. */
bool datatype_stays_contiguous(MPI_Datatype type);
#define FIRST_PAGE 4096 /* bytes: holds no data of a program */
/* Has the program given no memory for such elements, so many bytes behind its
 * address? A type of addresses goes with MPI_BOTTOM, which is NULL: then there
 * is memory where the first byte is. */
bool datatype_lacks_memory(const void *user, MPI_Aint at, MPI_Datatype type);
/* A reference to a type, which the program may free meanwhile. An MPI error. */
int datatype_keep(MPI_Datatype type, MPI_Datatype *kept);
void datatype_release(MPI_Datatype *kept);

/* ---- team_call.c ---- */

/* The MPI error code for an error of libdcoll, whose text it gets; or
 * LEFT_TO_MPI. */
int team_error_code(const struct layer_comm *c, int rc);
/* This rank can't make a call that the others make, because of an MPI error,
 * which is returned. The team ends, on all ranks. */
int team_call_missed(const struct layer_comm *c, int rc);
/* Is a rank dead, or the communicator revoked, or have the ranks made different
 * calls? Then all calls of the communicator fail. */
bool team_is_lost(const struct layer_comm *c);
/* Makes a call of libdcoll. If libdcoll refuses this rank's arguments, the
 * other ranks are told. */
int team_call(struct layer_comm *c, const dcoll_call_t *call);
/* All ranks reserve so many bytes of send and recv, or none does. */
bool team_has_buffers(struct layer_comm *c, size_t bytes);
/* The ranks agree by libdcoll, which notices dead ranks and refused calls.
 * @bytes: of each of mine and all. An error of libdcoll. */
int team_allreduce(struct layer_comm *c, const void *mine, void *all,
                   size_t bytes, dcoll_type_t type, dcoll_operator_t op);
/* Does every rank say yes? */
bool team_all_can(struct layer_comm *c, bool can);
/* False: it has failed. */
bool team_allgather(struct layer_comm *c, const void *mine, size_t bytes,
                    void *all);

#endif
