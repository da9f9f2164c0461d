/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Collective algorithms as data. An algorithm is a generator that writes one
 * rank's schedule: a list of operations which that rank performs in order. The
 * same schedules are executed (dcoll.h), verified, costed and drawn.
 *
 * Rules of execution
 *  - A rank performs its operations in order. PUT does not wait for its
 *    completion; COMPLETE does. WAIT and AWAIT wait for others.
 *  - A schedule is performed many times ("starts", numbered from 0). Ranks are
 *    not synchronised between starts: a fast one may be ahead.
 *  - TEMP, NODE and the flags' lines exist `depth` times: start s uses the
 *    (s mod depth)-th. The user's SEND and RECV exist once: what is put into a
 *    peer's RECV must wait for the peer's READY of the same start; what is put
 *    or written where a reader of start s - depth may still be must wait, with
 *    lag = depth, until that one is done, unless what came in since implies it.
 *  - A put is known to be complete when the target has consumed its
 *    notification. COMPLETE tells the initiator only that its source may be
 *    written again. Nothing orders puts, not even two to the same peer.
 *
 * All functions are pure and may be called by any thread.
 * Sources: seeds 000, 001 (multi-port, SMP-aware), 002 (multi-connection).
 */
#ifndef DCOLL_SCHEDULE_H
#define DCOLL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum dcoll_collective {
    DCOLL_GATHER,      /**< root's RECV: N blocks; SEND: one block */
    DCOLL_ALLGATHER,   /**< RECV: N blocks; SEND: one block */
    DCOLL_ALLTOALL,    /**< SEND and RECV: N blocks */
    DCOLL_BCAST,       /**< root's SEND, the others' RECV: one block */
    DCOLL_SCATTER,     /**< root's SEND: N blocks; RECV: one block */
    DCOLL_BARRIER,     /**< no data */
    DCOLL_REDUCE,      /**< SEND: one block; root's RECV: one block, all ranks'
                            combined in the order of ranks */
    DCOLL_ALLREDUCE,   /**< the same, RECV on all ranks: of the same bits */
    DCOLL_COLLECTIVES, /**< the number of those above, whose blocks are equal */
    DCOLL_ALLTOALLV =
        DCOLL_COLLECTIVES /**< irregular: sizes are known at run time only */
} dcoll_collective_t;

/** "allgather" …, "alltoallv"; NULL: it is none. */
const char *dcoll_collective_name(dcoll_collective_t collective);
/** 0, or DRAIL_EINVAL: it is none of those with equal blocks. */
int dcoll_collective_parse(const char *text, dcoll_collective_t *collective);

/** Does it combine what ranks give? */
static inline bool dcoll_collective_reduces(dcoll_collective_t collective)
{
    return collective == DCOLL_REDUCE || collective == DCOLL_ALLREDUCE;
}

/** Ranks, nodes and ports. Ranks of a node follow each other. */
typedef struct dcoll_shape {
    unsigned nranks;
    unsigned nnodes;
    const unsigned *node_begin; /**< nnodes + 1 of them: node n has the ranks
                                     node_begin[n] … node_begin[n + 1] - 1 */
    unsigned ports;             /**< k >= 1: messages that a rank can send and
                                     receive at the same time, one per port */
} dcoll_shape_t;

/** Nodes of @p ppn ranks, the last one of what is left. @p node_begin has room
 *  for the number of nodes, which is returned, and one more. */
unsigned dcoll_shape_nodes(unsigned nranks, unsigned ppn, unsigned *node_begin);
unsigned dcoll_shape_node(const dcoll_shape_t *shape, unsigned rank);
/** Ranks on the node of @p rank. */
unsigned dcoll_shape_locals(const dcoll_shape_t *shape, unsigned rank);
/** Ranks per node: of the node that has most. */
unsigned dcoll_shape_ppn(const dcoll_shape_t *shape);
/** Ranks of the smallest node. */
unsigned dcoll_shape_least(const dcoll_shape_t *shape);

/**
 * What an irregular all-to-all may have to bring, the same on all ranks: its
 * schedules and memory are made for that, and serve any counts within it.
 * Sizes travel with the messages (bundles, see DCOLL_DISTRIBUTE).
 */
typedef struct dcoll_traffic {
    size_t element;    /**< bytes of an element, 1 … */
    uint64_t max_pair; /**< elements from one rank to another, at most */
    uint64_t max_rank; /**< elements that a rank sends, or receives, at most;
                            both 0: any number, for algorithms that can */
    bool labelled;     /**< elements are to keep their order: they travel in
                            runs, with a label each; else each element says
                            itself where it is to go, and any order is good */
    size_t pulled;     /**< OFFER: what is for one rank, of at least so many
                            bytes, stays where it is; then so do shorter parts
                            of the same rank (offer_least_pulled) */
} dcoll_traffic_t;

/** dcoll_traffic_t.pulled of calls. Less is copied twice in less time than it
 *  takes to read it where it is. */
#define DCOLL_PULLED_BYTES ((size_t)32 << 10)

/** What is to be done: the same on all ranks. */
typedef struct dcoll_args {
    dcoll_collective_t collective;
    size_t bytes;    /**< of one block, 0 is allowed */
    size_t element;  /**< reductions: bytes of an element, of which a block has
                          a whole number; 0: of 1 byte */
    unsigned root;   /**< gather, bcast, scatter, reduce */
    bool in_place;   /**< allgather, alltoall, allreduce: SEND is not used, the
                          rank's own block lies in its place in RECV already
                          (alltoall: RECV holds what is to be sent). Gather,
                          scatter, reduce: at the root, the one block of SEND or
                          RECV lies in its place in the other; generators are
                          not told, as the schedules are the same */
    bool zero_copy;  /**< put from and to the final memory where the algorithm
                          can: users' buffers; else through TEMP. (SMP-aware
                          ones go through the nodes' shared memory in either
                          case, multi-connection ones with zero copy only) */
    unsigned groups; /**< mc-groups: number of groups per node, 1 … ranks of
                          the largest node; 0: the algorithm's default */
    bool paced;      /**< a step's k messages are complete before those of the
                          next one are posted, as the papers describe it; else
                          what can be is posted at once: ports keep the steps
                          apart. (Of a gather, the root can't pace what others
                          post; to all at once is multi-connection's idea) */
    unsigned depth;  /**< power of two: starts that TEMP, NODE and lines serve,
                          by which ranks may be ahead of others */
    bool one_shot;   /**< a call that finds its buffers anew each time, so that
                          `auto` does without what registers them: schedules
                          are not told */
    const dcoll_traffic_t *traffic; /**< of an all-to-all with counts; it must
                                         stay; NULL else */
} dcoll_args_t;

/** Blocks of a rank's SEND and RECV. */
unsigned dcoll_send_blocks(const dcoll_args_t *args, unsigned nranks,
                           unsigned rank);
unsigned dcoll_recv_blocks(const dcoll_args_t *args, unsigned nranks,
                           unsigned rank);
/** In place on all ranks, so that generators are told. */
bool dcoll_all_in_place(const dcoll_args_t *args);

typedef enum dcoll_space {
    DCOLL_SEND,
    DCOLL_RECV,
    DCOLL_TEMP, /**< the rank's own memory; peers may put into it */
    DCOLL_NODE, /**< memory that all ranks of a node share; each of them may
                     be the target of a put into it */
} dcoll_space_t;

typedef struct dcoll_place {
    dcoll_space_t space;
    size_t offset; /**< bytes */
} dcoll_place_t;

/** Notifications are counted per sender and tag. */
typedef enum dcoll_tag {
    DCOLL_DATA,   /**< comes after the bytes of its put */
    DCOLL_READY,  /**< "you may put into my RECV of this start": it carries
                       the key, so every put into RECV needs one */
    DCOLL_CREDIT, /**< "I have read what you put in this start", or, with
                     `every`, in its group of starts */
    DCOLL_TAGS
} dcoll_tag_t;

typedef enum dcoll_kind {
    DCOLL_PUT,      /**< src (mine) to dst (the peer's), then its DATA */
    DCOLL_GET,      /**< src (SEND, or RECV if in place on all ranks, of the
                         peer, who is on my node and whose schedule is shared)
                         to dst (mine): done after COMPLETE. The peer is not told:
                       flags say when src      may be read, and when it has been */
    DCOLL_NOTIFY,   /**< tag to peer, without data */
    DCOLL_WAIT,     /**< for the next notification with tag from peer. With
                         lag: that many starts ago, with `every` for their group;
                         the first lag starts pass.
                         All WAITs for one peer and tag have the same lag */
    DCOLL_COMPLETE, /**< until my puts and gets of this start are complete,
                         `puts` > 0: the first so many of them, else all:
                         sources may be written again, what was got is there */
    DCOLL_COPY,     /**< src to dst, both mine or NODE */
    DCOLL_COMBINE,  /**< reductions: src with `with` to dst, element by element,
                         all mine or NODE: src has what lower ranks gave. dst
                         may be one of the two, or apart from both */
    DCOLL_SIGNAL,   /**< sets my flag number `flag` for this start, after what
                         I have done. bytes > 0: with so many (at most
                         DCOLL_LINE_BYTES) from src in the flag's cache line.
                         At most once per flag and start */
    DCOLL_AWAIT,    /**< until peer (on my node) has set its flag of start
                         s - lag (s < lag: passes); bytes > 0 (only with lag
                         0): copies them from its line to dst. With bytes if
                         and only if it was signalled with bytes */

    /* Of irregular collectives (seed 003). A bundle is a head, which says how
       long it is, and elements; a bucket is one that is being filled. Bundles
       are in TEMP. A PUT or COPY of one is `sized`: it moves what the bundle
       has, and `bytes` is the room for it. A sized PUT from SEND moves what the
       user has for the peer to where that one's user wants it: its READY tells,
       or that nothing is to be moved; `bytes` is the bound, if there is one. */
    DCOLL_DISTRIBUTE, /**< the elements of the bundle src (SEND: the user's) to
                           the buckets of deals[deal], from dst on: those for
                           each destination evenly, by a counter */
    DCOLL_COLLECT,    /**< the same, by where the destination is */
    DCOLL_DELIVER,    /**< the elements of all bundles of deals[deal], from src
                           on, to RECV: those of a sender follow each other */

    /* Irregular, through tables in NODE (offer.h) */
    DCOLL_OFFER,  /**< my table, and elements, to dst, in `bytes` of room. What
                       is for my node and has no room is read from my SEND. In
                       TEMP: a table of one entry for each rank, which PUTs take
                       there; all elements stay in SEND */
    DCOLL_PACK,   /**< what the tables of my node, deals[deal] of them from src
                       on, offer the ranks of peer's node, to the bundle dst in
                       TEMP, with `bytes` of room */
    DCOLL_EXPECT, /**< what is for me. Peer on another node: in the bundle src,
                       which has come from there. Else in the tables of my node,
                       deals[deal] of them from src on, at last: now it is known
                       where everything is to go. In TEMP: from all ranks */
    DCOLL_PICK,   /**< what peer offers me to RECV: in its table, or the bundle
                       of its node, src, of `bytes` of room; from its SEND as a
                       GET. Of myself from my own */
} dcoll_kind_t;

/** Buckets, or bundles, and how elements are dealt to them. */
typedef struct dcoll_deal {
    unsigned fan;     /**< how many there are */
    size_t stride;    /**< from one to the next: the room for it */
    bool opens;       /**< DISTRIBUTE, COLLECT: they are empty before, and
                           counters begin anew; else it adds to them */
    unsigned period;  /**< DISTRIBUTE: the element that finds the destination's
                           counter at x goes to bucket x % period % fan; the
                           counter begins with destination % fan */
    unsigned divisor; /**< COLLECT: to bucket destination / divisor % fan */
    uint64_t most;    /**< DISTRIBUTE, COLLECT: elements for one destination,
                           in all buckets. More of them are for one that gets
                           more than max_rank: they are left out, and it is
                           told. So nobody else loses any */
} dcoll_deal_t;

/* "PUT", "CREDIT", "RECV" …, as they are called here. */
const char *dcoll_kind_name(dcoll_kind_t kind);
const char *dcoll_tag_name(dcoll_tag_t tag);
const char *dcoll_space_name(dcoll_space_t space);

/** Bytes of a cache line, and of them payload beside a flag. */
#define DCOLL_CACHE_LINE 64
#define DCOLL_LINE_BYTES 56

typedef struct dcoll_op {
    dcoll_kind_t kind;
    uint8_t phase;   /**< of the algorithm, from 1 (the papers' phases) */
    uint8_t every;   /**< NOTIFY, SIGNAL without bytes; WAIT, AWAIT with a lag:
                          once in so many starts (dcoll_op_rests()), a power of
                          two, at most the lag; 0: in each */
    uint16_t step;   /**< communication step of the k-port model, from 0: a
                          message needs none of the same step, nor of later
                          ones, to have come before */
    unsigned peer;   /**< rank: PUT, GET, NOTIFY, WAIT, AWAIT, PACK, EXPECT,
                          PICK */
    unsigned port;   /**< PUT, GET, NOTIFY: 0 … k-1, at both ends */
    unsigned flag;   /**< SIGNAL, AWAIT */
    unsigned lag;    /**< WAIT, AWAIT */
    unsigned puts;   /**< COMPLETE */
    dcoll_tag_t tag; /**< NOTIFY, WAIT */
    dcoll_place_t src, dst;
    dcoll_place_t with; /**< COMBINE */
    size_t bytes;       /**< DISTRIBUTE, COLLECT: the room of the bundle src */
    bool sized;   /**< PUT, COPY: of a bundle, or the user's, `bytes` at most */
    bool taken;   /**< COPY and COMBINE from NODE: nobody reads src, or with,
                       again, which may lose its contents; unless it is dst */
    bool offered; /**< AWAIT: passes if none of my elements for the peer is in
                     SEND */
    unsigned deal; /**< DISTRIBUTE, COLLECT, DELIVER, PACK, EXPECT */
} dcoll_op_t;

/** Has the operation nothing to do in this start? With `every`, starts are in
 *  groups of so many: the last one of a group signals for all of it, the first
 *  one waits for all of the group that was `lag` starts ago. */
static inline bool dcoll_op_rests(const dcoll_op_t *op, uint64_t start)
{
    if (!op->every)
        return false;
    const bool waits = op->kind == DCOLL_WAIT || op->kind == DCOLL_AWAIT;
    return (start & (op->every - 1u)) != (waits ? 0 : op->every - 1u);
}

/** The start whose flag an AWAIT needs at @p start, which is its lag or more.
 */
static inline uint64_t dcoll_op_awaited(const dcoll_op_t *op, uint64_t start)
{
    return start - op->lag + (op->every ? op->every - 1u : 0);
}

/** One rank's part of a collective. */
typedef struct dcoll_schedule {
    dcoll_op_t *ops;
    unsigned nops, capacity;
    dcoll_deal_t *deals;
    unsigned ndeals, deals_capacity;
    size_t temp_bytes; /**< per depth, of this rank */
    size_t node_bytes; /**< per depth; the same on all ranks of a node */
    unsigned flags;    /**< per depth; the same on all ranks of a node */
    bool shared;       /**< ranks of the node get from my SEND or, in place,
                            RECV */
    bool connections;  /**< the same on all ranks: a step is not that of the
                            k-port model, but all connections are active at
                            the same time (seed 002) */
    uint8_t phase;     /**< of the operations that are added next */
    uint16_t step;
    int error; /**< DRAIL_ENOMEM: an operation could not be added */
} dcoll_schedule_t;

void dcoll_schedule_free(dcoll_schedule_t *schedule);

/* Generators add operations with these. Errors stay in schedule->error. A COPY,
 * COMBINE or payload of 0 bytes is dropped, or its place left out; a PUT is
 * not: its notification counts. */

static inline dcoll_place_t dcoll_at(dcoll_space_t space, size_t offset)
{
    return (dcoll_place_t){space, offset};
}
void dcoll_add_put(dcoll_schedule_t *s, unsigned peer, unsigned port,
                   dcoll_place_t src, dcoll_place_t dst, size_t bytes);
void dcoll_add_get(dcoll_schedule_t *s, unsigned peer, unsigned port,
                   dcoll_place_t src, dcoll_place_t dst, size_t bytes);
void dcoll_add_notify(dcoll_schedule_t *s, unsigned peer, unsigned port,
                      dcoll_tag_t tag);
void dcoll_add_wait(dcoll_schedule_t *s, unsigned peer, dcoll_tag_t tag,
                    unsigned lag);
void dcoll_add_complete(dcoll_schedule_t *s);
/** Of the first @p puts, which are to be more than 0. */
void dcoll_add_complete_first(dcoll_schedule_t *s, unsigned puts);
void dcoll_add_copy(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
                    size_t bytes);
void dcoll_add_combine(dcoll_schedule_t *s, dcoll_place_t src,
                       dcoll_place_t with, dcoll_place_t dst, size_t bytes,
                       bool taken);
/** A COPY, taken. */
void dcoll_add_take(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
                    size_t bytes);
void dcoll_add_signal(dcoll_schedule_t *s, unsigned flag, dcoll_place_t src,
                      size_t bytes);
void dcoll_add_await(dcoll_schedule_t *s, unsigned peer, unsigned flag,
                     unsigned lag, dcoll_place_t dst, size_t bytes);
/** DCOLL_DISTRIBUTE, DCOLL_COLLECT or DCOLL_DELIVER; one that is like the last
 *  shares its entry of deals. @p room: of the bundle @p src. */
void dcoll_add_deal(dcoll_schedule_t *s, dcoll_kind_t kind, dcoll_place_t src,
                    size_t room, dcoll_place_t dst, const dcoll_deal_t *deal);
/** The last operation is performed once in so many starts; 0: in each. */
void dcoll_add_every(dcoll_schedule_t *s, uint8_t every);
/** The last operation, a PUT or COPY, is of a bundle. */
void dcoll_add_sized(dcoll_schedule_t *s);
void dcoll_add_offer(dcoll_schedule_t *s, dcoll_place_t dst, size_t room);
/** For the ranks of @p peer's node. */
void dcoll_add_pack(dcoll_schedule_t *s, unsigned peer, dcoll_place_t src,
                    const dcoll_deal_t *tables, dcoll_place_t dst, size_t room);
/** @p me: the rank itself. */
void dcoll_add_expect(dcoll_schedule_t *s, unsigned me, dcoll_place_t src,
                      const dcoll_deal_t *tables);
/** A bundle of @p peer's node, which is another. */
void dcoll_add_expect_bundle(dcoll_schedule_t *s, unsigned peer,
                             dcoll_place_t src, size_t room);
void dcoll_add_pick(dcoll_schedule_t *s, unsigned peer, dcoll_place_t src,
                    size_t room);
/** AWAIT that is for those only who have offered the peer something from SEND.
 */
void dcoll_add_await_offered(dcoll_schedule_t *s, unsigned peer, unsigned flag);

/* ---------------------------------------------------------- algorithms --- */

struct stages; /* coll/build/stages.h */

/** Where credits are flags; and notifications, with which one of the requests
 *  may fill half of the transport's queues, of their default depth (who has
 *  shorter ones runs less far ahead): the rest is for other messages. */
#define DCOLL_AHEAD_FLAGS 256u
#define DCOLL_AHEAD_NOTES 32u

typedef struct dcoll_algorithm {
    const char *name; /**< as --algorithm takes it */
    dcoll_collective_t collective;
    const char *summary; /**< one line: idea, source */
    const char *memory;  /**< TEMP and NODE per rank and node, as a formula */
    unsigned ahead; /**< starts that ranks may usefully be ahead of the root, or
                         it of them: DCOLL_AHEAD_…; 0: the configured depth */
    unsigned depth; /**< the only one that it is for; 0: any */
    bool placed;    /**< irregular: READY tells what may come, and where */
    /** NULL: it can serve this shape; else why not (constant text). May be
     *  NULL: it always can. */
    const char *(*refuses)(const dcoll_shape_t *shape,
                           const dcoll_args_t *args);
    /** Adds the operations of @p rank to an empty schedule. NULL: it is in
     *  stages. */
    void (*generate)(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out);
    const struct stages *stages; /**< irregular: what deals and exchanges */
    unsigned form;               /**< of stages: enum stages_form */
} dcoll_algorithm_t;

/** Adds the operations of @p rank to an empty schedule. */
void dcoll_generate(const dcoll_algorithm_t *algorithm,
                    const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, dcoll_schedule_t *out);

/** All algorithms of collectives with equal blocks, ended by NULL. */
const dcoll_algorithm_t *const *dcoll_algorithms(void);
/** Those of DCOLL_ALLTOALLV. */
const dcoll_algorithm_t *const *dcoll_algorithms_irregular(void);
/** NULL: there is none of that name. */
const dcoll_algorithm_t *dcoll_algorithm_find(dcoll_collective_t collective,
                                              const char *name);

/** The depth that runs where @p depth is configured: in gather, scatter and
 *  broadcast ranks may run ahead of a slow root, or the root of slow ranks, as
 *  far as a little memory goes. In other collectives everybody waits for
 *  everybody. */
unsigned dcoll_depth(const dcoll_algorithm_t *algorithm,
                     const dcoll_shape_t *shape, size_t bytes, unsigned depth);

/** Schedules of all ranks. */
typedef struct dcoll_program {
    const dcoll_shape_t *shape;
    dcoll_args_t args;
    dcoll_schedule_t *rank; /**< shape->nranks of them, owned */
    const uint64_t *counts; /**< irregular: the elements from rank i to rank j,
                                 at i * nranks + j, that are played; set by the
                                 caller, who owns them */
} dcoll_program_t;

/** 0, DRAIL_ENOMEM, or DRAIL_ENOTSUP when the algorithm refuses. The shape
 *  must outlive the program. */
int dcoll_program_make(const dcoll_algorithm_t *algorithm,
                       const dcoll_shape_t *shape, const dcoll_args_t *args,
                       dcoll_program_t *out);
void dcoll_program_free(dcoll_program_t *program);

/* ------------------------------------------------------- verifier, cost --- */

/**
 * Plays all ranks symbolically, @p starts times back to back, each rank's user
 * filling its buffers before and reading them after each start; as many as
 * dcoll_proof_starts() says prove it for any number of them (verify.h). Proves
 * that every block ends where it must, that no two accesses to the same bytes,
 * or the same key, of which one writes are unordered, that nothing deadlocks,
 * that no notification is left over, that offsets are within the memory that
 * the schedule asks for, that steps are those of the k-port model, and that
 * nothing is moved in vain. Reductions: that all ranks' elements are combined,
 * each once and in the order of ranks, and for all of an allreduce's ranks in
 * the same way. Irregular: for the program's counts (elements of a
 * multiple of 16 bytes, labelled), and that no bundle exceeds its room; that
 * rooms are not accessed unordered, for any counts within the traffic.
 * @return 0; DRAIL_EINVAL with a sentence in @p why (rank, operation, bytes);
 * DRAIL_ENOMEM.
 */
int dcoll_verify(const dcoll_program_t *program, unsigned starts, char *why,
                 size_t size);
/** depth + 1, and where starts differ (operations that are performed once in
 *  several, tables of which SEND may be mapped), depth and as many as it takes
 *  until they are the same again. */
unsigned dcoll_proof_starts(const dcoll_program_t *program);

/** Hockney's model with ports: a message of b bytes takes ts + b * tau and
 *  occupies one port of the sender and of the receiver (seed 000, section 3.2).
 *  Any unit of time. */
typedef struct dcoll_cost_model {
    double ts, tau; /**< between any two ranks, per message and per byte */
    double copy;    /**< per byte of COPY and of payloads */
    double flag;    /**< from SIGNAL to AWAIT */
    double note;    /**< a notification without data: 0 in the papers */
    double combine; /**< per byte of COMBINE */
} dcoll_cost_model_t;

/** Time until the last rank has done, all starting at 0, or < 0: DRAIL_E…
 *  (DRAIL_ENOTSUP: irregular, and the program has no counts). Irregular: for
 *  those counts, with heads and labels of bundles; dealing, and what is taken
 *  from other ranks of the node, is copying. */
double dcoll_cost(const dcoll_program_t *program,
                  const dcoll_cost_model_t *model);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
