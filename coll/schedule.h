/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Collective algorithms as data. An algorithm is a generator: it writes the
 * schedule of one rank, a list of operations that the rank performs in order.
 * The library executes schedules (dcoll.h), verifies them, predicts their time,
 * and scripts/draw-schedule draws them. Comments below refer to these rules.
 *
 * Rules of execution
 *  1. Order. A rank performs its operations in order. PUT and GET only start a
 *     transfer; COMPLETE waits for them. WAIT and AWAIT wait for other ranks.
 *     Nothing orders two puts, not even two to the same peer.
 *  2. Starts. A schedule is performed many times: start 0, 1, 2 … Ranks are
 *     not synchronised between starts; a fast rank may be ahead of others.
 *  3. Memory. SEND and RECV are the user's buffers and exist once. TEMP (one
 *     per rank), NODE (one per node) and the lines of flags exist `depth`
 *     times: start s uses number s mod depth.
 *  4. Permission. A put into a peer's RECV must wait for that peer's READY of
 *     the same start. What still may be read in start s - depth must not be
 *     overwritten: the writer waits with lag = depth (CREDIT or a flag),
 *     unless something that it has received since implies that the reader is
 *     done.
 *  5. Completion. A put has arrived when the target's WAIT has consumed its
 *     DATA notification. COMPLETE tells the initiator only that the source may
 *     be written again; after a GET it also tells that the data are there.
 *  6. Flags. Ranks of a node wait for each other by flags. Each rank has
 *     `flags` of them and sets each at most once per start.
 *
 * Rules of use
 *  7. Functions keep no state: any thread may call them, on objects that no
 *     other thread uses meanwhile.
 *  8. Names. N: ranks; k: ports; b: bytes of a block; "peer": another rank.
 *
 * Sources: Qian and Afsahi (multi-port and SMP-aware collectives), Qian, Rashti
 * and Afsahi (multi-connection all-gather), Liu, Wang and Prasanna (irregular
 * all-to-all); full titles are in dcoll.h.
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
    DCOLL_GATHER,    /**< root's RECV: N blocks; SEND: one block */
    DCOLL_ALLGATHER, /**< RECV: N blocks; SEND: one block */
    DCOLL_ALLTOALL,  /**< SEND and RECV: N blocks */
    DCOLL_BCAST,     /**< root's SEND, the others' RECV: one block */
    DCOLL_SCATTER,   /**< root's SEND: N blocks; RECV: one block */
    DCOLL_BARRIER,   /**< no data */
    DCOLL_REDUCE,    /**< SEND: one block; root's RECV: one block, the blocks
                          of all ranks combined in the order of ranks */
    DCOLL_ALLREDUCE, /**< the same, in RECV of all ranks, equal bit by bit */
    DCOLL_REDUCE_SCATTER_BLOCK, /**< SEND: N blocks; RECV of rank i: block i of
                                     all ranks combined */
    DCOLL_SCAN,   /**< SEND, RECV: one block; RECV of rank i: the blocks of
                       ranks 0 … i combined */
    DCOLL_EXSCAN, /**< the same, of ranks 0 … i - 1; rank 0 has no RECV */
    DCOLL_COLLECTIVES, /**< the number of collectives with equal blocks */
    DCOLL_ALLTOALLV =
        DCOLL_COLLECTIVES /**< irregular: sizes are known at run time only */
} dcoll_collective_t;

/** "gather", …, "alltoallv"; constant. NULL: no collective has this value. */
const char *dcoll_collective_name(dcoll_collective_t collective);
/** Finds a collective with equal blocks by its name. 0, or DRAIL_EINVAL. */
int dcoll_collective_parse(const char *text, dcoll_collective_t *collective);

/** Is it a reduction? */
static inline bool dcoll_collective_reduces(dcoll_collective_t collective)
{
    return collective >= DCOLL_REDUCE && collective <= DCOLL_EXSCAN;
}

/** The ranks, nodes and ports for which schedules are made. Ranks of a node are
 *  consecutive. */
typedef struct dcoll_shape {
    unsigned nranks;
    unsigned nnodes;
    const unsigned *node_begin; /**< nnodes + 1 entries, owned by the caller:
                                     node n has the ranks node_begin[n] …
                                     node_begin[n + 1] - 1 */
    unsigned ports;             /**< k >= 1: a rank can send and receive so many
                                     messages at the same time, one per port */
} dcoll_shape_t;

/** Divides @p nranks ranks into nodes of @p ppn (at least 1); the last node
 * gets the rest. Fills @p node_begin, which has one entry more than there are
 * nodes. Returns the number of nodes. */
unsigned dcoll_shape_nodes(unsigned nranks, unsigned ppn, unsigned *node_begin);
/** The node of @p rank. */
unsigned dcoll_shape_node(const dcoll_shape_t *shape, unsigned rank);
/** The number of ranks on the node of @p rank. */
unsigned dcoll_shape_locals(const dcoll_shape_t *shape, unsigned rank);
/** The number of ranks on the largest node. */
unsigned dcoll_shape_ppn(const dcoll_shape_t *shape);
/** The number of ranks on the smallest node. */
unsigned dcoll_shape_least(const dcoll_shape_t *shape);

/**
 * Bounds of an irregular all-to-all, the same on all ranks. Schedules and
 * memory are made for these bounds and serve any counts within them: sizes
 * travel with the messages (bundles, see DCOLL_DISTRIBUTE).
 */
typedef struct dcoll_traffic {
    size_t element;    /**< bytes of an element, at least 1 */
    uint64_t max_pair; /**< most elements from one rank to another */
    uint64_t max_rank; /**< most elements that a rank sends, or receives. Both
                            0: no bounds, for algorithms that need none */
    bool labelled;     /**< true: elements from one rank to another keep their
                            order; they travel in runs, each with a label.
                            false: each element contains its destination, and
                            elements arrive in any order */
    const uint64_t *counts; /**< of algorithms `by_counts`: elements from rank i
                                 to rank j, at i * nranks + j; owned by the
                                 caller. Schedules serve these counts only.
                                 NULL: any counts within the bounds */
    size_t pulled; /**< OFFER: parts for one rank of at least so many bytes
                        stay in SEND, where the receiver reads them; then so
                        do shorter parts of the same sender
                        (offer_least_pulled in build/irregular/offer.h) */
} dcoll_traffic_t;

/** The value of dcoll_traffic_t.pulled that calls use. Copying fewer bytes
 * twice is faster than reading them in the sender's memory. */
#define DCOLL_PULLED_BYTES ((size_t)32 << 10)

/** What a generator is asked for; the same on all ranks. */
typedef struct dcoll_args {
    dcoll_collective_t collective;
    size_t bytes; /**< b, of one block; 0 is allowed. With `begin`: of the
                       longest one */
    const size_t *begin; /**< gather, all-gather, scatter, reduce-scatter:
                              blocks of different sizes. N + 1 entries, owned by
                            the caller: block r is bytes begin[r] … begin[r + 1]
                            - 1 of the N blocks. NULL: all have b bytes */
    size_t element;  /**< reductions: bytes of an element; b is a multiple of
                          it. 0: 1 byte */
    bool commutes;   /**< reductions: the operation commutes, so algorithms that
                          do not keep the order of ranks may serve it */
    unsigned root;   /**< gather, broadcast, scatter, reduce */
    bool in_place;   /**< all-gather, all-to-all, all-reduce: SEND is not used,
                          and the rank's own block is in its place in RECV
                          (all-to-all: RECV holds the blocks to be sent). Other
                          collectives: SEND or RECV is a part of the other, at
                          the root, or, in a reduce-scatter and a scan, at any
                          rank; their schedules do not depend on it */
    bool zero_copy;  /**< put from and into users' buffers where the algorithm
                          can, instead of TEMP. SMP-aware algorithms go through
                          NODE in either case, multi-connection ones with zero
                          copy only */
    unsigned groups; /**< all-gather mc-groups: groups per node, 1 … ranks of
                          the largest node; 0: the algorithm's default */
    bool paced;      /**< complete the k messages of a step before posting those
                          of the next one, as in the papers. false: post
                          whatever is ready; ports keep the steps apart. The
                          direct gather and multi-connection algorithms are
                          never paced */
    unsigned ports;  /**< k of this call; 0: that of the shape */
    const unsigned *port_begin; /**< ranks with different numbers of ports, for
                                     algorithms that divide work by them. N + 1
                                     entries, owned by the caller: rank r has
                                     port_begin[r + 1] - port_begin[r], at least
                                     1 and at most k. NULL: all have k */
    unsigned depth; /**< rule 3; a power of two: so many starts may be under way
                         at the same time */
    bool one_shot;  /**< only for `auto`: the buffers are new in each call, so
                         avoid algorithms that register them */
    const dcoll_traffic_t *traffic; /**< irregular all-to-all: its bounds, owned
                                         by the caller; NULL otherwise */
} dcoll_args_t;

/** The ports of a rank: dcoll_args_t.port_begin, or k. */
static inline unsigned dcoll_rank_ports(const dcoll_shape_t *shape,
                                        const dcoll_args_t *args, unsigned rank)
{
    return args->port_begin
               ? args->port_begin[rank + 1] - args->port_begin[rank]
               : shape->ports;
}

/** The number of blocks in a rank's SEND, and in its RECV. 0 in a barrier, in
 * an irregular all-to-all, and where the rank does not use that buffer. */
unsigned dcoll_send_blocks(const dcoll_args_t *args, unsigned nranks,
                           unsigned rank);
unsigned dcoll_recv_blocks(const dcoll_args_t *args, unsigned nranks,
                           unsigned rank);
/** The same in bytes. */
size_t dcoll_send_bytes(const dcoll_args_t *args, unsigned nranks,
                        unsigned rank);
size_t dcoll_recv_bytes(const dcoll_args_t *args, unsigned nranks,
                        unsigned rank);
/** Where the block of @p rank begins in a buffer of N blocks; rank N: its end.
 */
static inline size_t dcoll_block_begin(const dcoll_args_t *args, unsigned rank)
{
    return args->begin ? args->begin[rank] : rank * args->bytes;
}
/** The bytes of the block of @p rank. */
static inline size_t dcoll_block_bytes(const dcoll_args_t *args, unsigned rank)
{
    return args->begin ? args->begin[rank + 1] - args->begin[rank]
                       : args->bytes;
}
/** Is the call in place on all ranks? Only then schedules depend on it. */
bool dcoll_all_in_place(const dcoll_args_t *args);
/** May each rank decide for itself whether it is in place? */
static inline bool dcoll_in_place_anywhere(dcoll_collective_t collective)
{
    return collective >= DCOLL_REDUCE_SCATTER_BLOCK &&
           collective <= DCOLL_EXSCAN;
}

/** Memories that operations access. */
typedef enum dcoll_space {
    DCOLL_SEND, /**< the user's source buffer */
    DCOLL_RECV, /**< the user's destination buffer */
    DCOLL_TEMP, /**< the rank's own memory; peers may put into it */
    DCOLL_NODE, /**< memory shared by all ranks of a node; a put into it may be
                     addressed to any of them */
} dcoll_space_t;

/** A position in such a memory. */
typedef struct dcoll_place {
    dcoll_space_t space;
    size_t offset; /**< bytes */
} dcoll_place_t;

/** Kinds of notifications; they are counted per sender and tag. */
typedef enum dcoll_tag {
    DCOLL_DATA,   /**< follows the bytes of its put */
    DCOLL_READY,  /**< "you may put into my RECV of this start". It carries the
                       key of RECV, so each put into RECV needs one */
    DCOLL_CREDIT, /**< "I have read what you put in this start"; with `every`:
                       in this group of starts */
    DCOLL_TAGS
} dcoll_tag_t;

/** Operations. src, dst, with, peer, …: members of dcoll_op_t. */
typedef enum dcoll_kind {
    DCOLL_PUT,    /**< writes src (mine) to dst (the peer's), then notifies the
                       peer with DATA */
    DCOLL_GET,    /**< reads src of a peer on my node (its SEND, or RECV if in
                       place on all ranks; its schedule is `shared`) to dst
                       (mine). The peer is not notified: flags tell when src may
                       be read and when it has been */
    DCOLL_NOTIFY, /**< notifies the peer with tag, without data */
    DCOLL_WAIT,   /**< waits for the next notification with tag from peer. With
                       lag: for that of so many starts ago (with `every`: for
                       that of its group); the first lag starts pass. All WAITs
                       for one peer and tag have the same lag */
    DCOLL_COMPLETE, /**< waits until my puts and gets of this start are complete
                         (rule 5): the first `puts` of them; 0: all */
    DCOLL_COPY,     /**< copies src to dst, each mine or NODE */
    DCOLL_COMBINE,  /**< reductions: dst = src op with, element by element, each
                         mine or NODE; src comes from lower ranks, unless the
                         operation commutes. dst is src, or with, or overlaps
                         neither */
    DCOLL_SIGNAL, /**< sets my flag for this start, after all that I have done.
                       bytes > 0: with so many bytes of src in the flag's cache
                       line, at most DCOLL_LINE_BYTES */
    DCOLL_AWAIT,  /**< waits until peer (on my node) has set its flag of start s
                       - lag; passes if s < lag. bytes > 0 (only with lag 0, and
                       only if SIGNAL has bytes): copies them to dst */

    /* Irregular all-to-all. A bundle is a head, which has its length, and
       elements; a bucket is a bundle that is being filled; both are in TEMP. A
       PUT or COPY of a bundle is `sized`: it moves the bundle's own length, and
       `bytes` is the room for it. A sized PUT from SEND moves the elements that
       the user has for the peer to the place that the peer's READY names, or
       nothing if that READY refuses; `bytes` is the bound, if there is one.
       Such a PUT that is not sized moves `bytes` of these elements: offsets of
       src and dst count from the first one. */
    DCOLL_DISTRIBUTE, /**< deals the elements of bundle src (or of the user's
                           SEND) to the buckets of deals[deal] at dst: those for
                           one destination evenly, by a counter */
    DCOLL_COLLECT,    /**< the same, but by destination: deal.divisor */
    DCOLL_DELIVER, /**< moves the elements of all bundles of deals[deal] at src
                        to RECV; those of one sender follow each other */

    /* Irregular all-to-all through tables in NODE (build/irregular/offer.h) */
    DCOLL_OFFER, /**< writes my table, and the elements that go with it, to dst,
                      in `bytes` of room. Elements for my node that have no room
                      stay in SEND, where their receivers read them. dst in
                      TEMP: writes a table of one entry per rank, which PUTs
                      send; all elements stay in SEND */
    DCOLL_PACK,  /**< packs what the tables of my node (deals[deal] of them at
                      src) offer to the ranks of peer's node into the bundle dst
                      in TEMP, with `bytes` of room */
    DCOLL_EXPECT, /**< looks at what is offered to me. peer on another node: in
                       the bundle src, which came from there. Else, last of all:
                       in the tables of my node, deals[deal] of them at src;
                       after it each element's place in RECV is known. src in
                       TEMP: in the entries of all ranks; in RECV: in
                       dcoll_traffic_t.counts */
    DCOLL_PICK, /**< moves what peer offers me to RECV: from its table, or from
                     the bundle src of its node, of `bytes` of room; or from its
                     SEND, as GET does. My own elements: from my SEND */
} dcoll_kind_t;

/** A row of buckets, bundles or tables, and how elements are dealt to them. */
typedef struct dcoll_deal {
    unsigned fan;    /**< their number */
    size_t stride;   /**< bytes from one to the next: the room of each */
    bool opens;      /**< DISTRIBUTE, COLLECT: empty the buckets and reset the
                          counters first; false: add to them */
    unsigned period; /**< DISTRIBUTE: if the counter of an element's destination
                          is x, the element goes to bucket x % period % fan; a
                          counter begins with destination % fan */
    unsigned divisor; /**< COLLECT: an element goes to bucket destination /
                           divisor % fan */
    unsigned ring;    /**< COLLECT: if not 0, so many ranks form a ring, and the
                           distance from `origin` to the destination is divided
                           instead of the destination */
    unsigned origin;
    uint64_t most; /**< DISTRIBUTE, COLLECT: most elements for one
                        destination, in all buckets. Further ones are left
                        out, and the destination is told: it gets more than
                        max_rank. So no other destination loses elements */
} dcoll_deal_t;

/** "PUT", "CREDIT", "RECV", …: the names above; constant. */
const char *dcoll_kind_name(dcoll_kind_t kind);
const char *dcoll_tag_name(dcoll_tag_t tag);
const char *dcoll_space_name(dcoll_space_t space);

/** Bytes of a flag's cache line, and of the payload in it. */
#define DCOLL_CACHE_LINE 64
#define DCOLL_LINE_BYTES 56

/** One operation. Which members it uses depends on its kind. */
typedef struct dcoll_op {
    dcoll_kind_t kind;
    uint8_t phase;   /**< phase of the algorithm, from 1, as in the papers */
    uint8_t every;   /**< NOTIFY; SIGNAL without bytes; WAIT and AWAIT with a
                          lag: performed once in so many starts (see
                          dcoll_op_rests()): a power of two, at most the lag; 0:
                          in each start */
    uint16_t step;   /**< communication step of the k-port model, from 0: a
                          message depends only on messages of earlier steps */
    unsigned peer;   /**< rank: PUT, GET, NOTIFY, WAIT, AWAIT, PACK, EXPECT,
                          PICK */
    unsigned port;   /**< PUT, GET, NOTIFY: 0 … k-1, the same at both ends */
    unsigned flag;   /**< SIGNAL, AWAIT */
    unsigned lag;    /**< WAIT, AWAIT: starts */
    unsigned puts;   /**< COMPLETE */
    dcoll_tag_t tag; /**< NOTIFY, WAIT */
    dcoll_place_t src, dst;
    dcoll_place_t with; /**< COMBINE */
    size_t bytes;       /**< PUT, GET, COPY, COMBINE, SIGNAL, AWAIT: as above.
                             DISTRIBUTE, COLLECT, EXPECT, PICK: room of the
                             bundle src. OFFER, PACK: room at dst */
    bool sized;   /**< PUT, COPY: of a bundle or of the user's elements; `bytes`
                       is the most */
    bool offered; /**< AWAIT: passes if none of my elements for the peer is in
                       SEND */
    unsigned deal; /**< DISTRIBUTE, COLLECT, DELIVER, PACK, EXPECT: index in
                        deals */
} dcoll_op_t;

/** Is the operation left out in this start? With `every`, starts form groups of
 *  so many: the last start of a group notifies or signals for the whole group,
 *  the first one waits for the group of `lag` starts ago. */
static inline bool dcoll_op_rests(const dcoll_op_t *op, uint64_t start)
{
    if (!op->every)
        return false;
    const bool waits = op->kind == DCOLL_WAIT || op->kind == DCOLL_AWAIT;
    return (start & (op->every - 1u)) != (waits ? 0 : op->every - 1u);
}

/** The start whose flag an AWAIT of @p start waits for; @p start >= lag. */
static inline uint64_t dcoll_op_awaited(const dcoll_op_t *op, uint64_t start)
{
    return start - op->lag + (op->every ? op->every - 1u : 0);
}

/** The operations of one rank, and the memory that they need. Begins as {0}. */
typedef struct dcoll_schedule {
    dcoll_op_t *ops; /**< owned, as deals */
    unsigned nops, capacity;
    dcoll_deal_t *deals;
    unsigned ndeals, deals_capacity;
    size_t temp_bytes; /**< of this rank's TEMP, each of `depth` */
    size_t node_bytes; /**< of NODE, each of `depth`; the same on all ranks of a
                            node */
    unsigned flags;    /**< flags of a rank; the same on all ranks of a node */
    bool shared;       /**< ranks of the node GET from my SEND or, in place, my
                            RECV */
    bool crossing;     /**< two ranks read from each other at the same time */
    bool connections;  /**< a step may use all connections at the same time, not
                            k ports (multi-connection); the same on all ranks */
    uint8_t phase;     /**< of the operations that are added next */
    uint16_t step;     /**< of the operations that are added next */
    int error;         /**< 0, or DRAIL_ENOMEM: an operation is missing */
} dcoll_schedule_t;

/** Frees what a schedule owns, and sets it to {0}. */
void dcoll_schedule_free(dcoll_schedule_t *schedule);

/* Generators add operations with the functions below; parameters are the
 * members of dcoll_op_t. If there is no memory, schedule->error says so. COPY,
 * COMBINE and GET of 0 bytes are not added. A PUT of 0 bytes is: it notifies.
 */

/** A position. */
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
/** Waits for the first @p puts (more than 0) puts and gets of the start only.
 */
void dcoll_add_complete_first(dcoll_schedule_t *s, unsigned puts);
void dcoll_add_copy(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
                    size_t bytes);
void dcoll_add_combine(dcoll_schedule_t *s, dcoll_place_t src,
                       dcoll_place_t with, dcoll_place_t dst, size_t bytes);
void dcoll_add_signal(dcoll_schedule_t *s, unsigned flag, dcoll_place_t src,
                      size_t bytes);
void dcoll_add_await(dcoll_schedule_t *s, unsigned peer, unsigned flag,
                     unsigned lag, dcoll_place_t dst, size_t bytes);
/** DISTRIBUTE, COLLECT or DELIVER. @p deal is copied; equal consecutive ones
 * share an entry. @p room: bytes of the bundle @p src. */
void dcoll_add_deal(dcoll_schedule_t *s, dcoll_kind_t kind, dcoll_place_t src,
                    size_t room, dcoll_place_t dst, const dcoll_deal_t *deal);
/** Sets `every` of the operation that was added last. */
void dcoll_add_every(dcoll_schedule_t *s, uint8_t every);
/** Makes the operation that was added last, a PUT or COPY, `sized`. */
void dcoll_add_sized(dcoll_schedule_t *s);
void dcoll_add_offer(dcoll_schedule_t *s, dcoll_place_t dst, size_t room);
/** PACK for the ranks of @p peer's node. @p tables: the row of tables at @p
 * src. */
void dcoll_add_pack(dcoll_schedule_t *s, unsigned peer, dcoll_place_t src,
                    const dcoll_deal_t *tables, dcoll_place_t dst, size_t room);
/** EXPECT in the tables of my node. @p me: this rank. */
void dcoll_add_expect(dcoll_schedule_t *s, unsigned me, dcoll_place_t src,
                      const dcoll_deal_t *tables);
/** EXPECT in dcoll_traffic_t.counts. */
void dcoll_add_expect_counts(dcoll_schedule_t *s, unsigned me);
/** EXPECT in a bundle that came from @p peer's node, not mine. */
void dcoll_add_expect_bundle(dcoll_schedule_t *s, unsigned peer,
                             dcoll_place_t src, size_t room);
void dcoll_add_pick(dcoll_schedule_t *s, unsigned peer, dcoll_place_t src,
                    size_t room);
/** AWAIT that passes unless some of my elements for @p peer are in SEND. */
void dcoll_add_await_offered(dcoll_schedule_t *s, unsigned peer, unsigned flag);

/* ---------------------------------------------------------- algorithms --- */

struct stages; /* coll/build/irregular/stages.h */

/** Values of dcoll_algorithm_t.ahead: where credits are flags, and where they
 * are notifications. The latter fill at most half of the transport's queues of
 *  default depth (of shorter queues, too: then ranks run less far ahead); the
 *  other half is for other messages. */
#define DCOLL_AHEAD_FLAGS 256u
#define DCOLL_AHEAD_NOTES 32u

/** An algorithm; constant. */
typedef struct dcoll_algorithm {
    const char *name; /**< as --algorithm takes it */
    dcoll_collective_t collective;
    const char *summary; /**< one line: idea and source */
    const char *memory;  /**< bytes of TEMP and NODE as a formula, in words */
    unsigned ahead; /**< how many starts a rank may usefully be ahead of the
                         root, the root of other ranks, or (scans) a rank of
                         later ones: DCOLL_AHEAD_…; 0: the configured depth */
    unsigned depth; /**< the only depth that it supports; 0: any */
    unsigned node_blocks; /**< it works within one node, and NODE has 1 block
                             (1), ranks (2), or ranks * ranks (3); 0: less */
    bool by_ports;  /**< its schedules depend on dcoll_args_t.port_begin */
    bool unequal;   /**< it serves blocks of different sizes
                         (dcoll_args_t.begin) */
    bool by_counts; /**< irregular: its schedules depend on
                         dcoll_traffic_t.counts */
    bool placed;    /**< irregular: READY tells the sender where to write, and
                         how much */
    /** As dcoll_refusal(), which calls it. NULL: it always can. */
    const char *(*refuses)(const dcoll_shape_t *shape,
                           const dcoll_args_t *args);
    /** Adds the operations of @p rank to an empty schedule. NULL: `stages`
     *  describes them. */
    void (*generate)(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out);
    const struct stages
        *stages;   /**< irregular: stages of dealing and exchange */
    unsigned form; /**< of stages: enum stages_form */
} dcoll_algorithm_t;

/** Writes the schedule of @p rank. The algorithm must not refuse @p args.
 *  @p out begins as {0}; out->error is 0 or DRAIL_ENOMEM afterwards. Free it
 * with dcoll_schedule_free(). */
void dcoll_generate(const dcoll_algorithm_t *algorithm,
                    const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, dcoll_schedule_t *out);

/** NULL: the algorithm can serve this shape and these arguments; else the
 * reason why not, constant text. */
const char *dcoll_refusal(const dcoll_algorithm_t *algorithm,
                          const dcoll_shape_t *shape, const dcoll_args_t *args);
/** Does it refuse @p args only because the operation does not commute? */
bool dcoll_needs_commuting(const dcoll_algorithm_t *algorithm,
                           const dcoll_shape_t *shape,
                           const dcoll_args_t *args);

/** All algorithms of collectives with equal blocks; ends with NULL; constant.
 */
const dcoll_algorithm_t *const *dcoll_algorithms(void);
/** All algorithms of DCOLL_ALLTOALLV; ends with NULL; constant. */
const dcoll_algorithm_t *const *dcoll_algorithms_irregular(void);
/** Finds an algorithm by its name. NULL: there is none of that name. */
const dcoll_algorithm_t *dcoll_algorithm_find(dcoll_collective_t collective,
                                              const char *name);

/** The depth that is used where @p depth is configured, for blocks of @p bytes:
 *  dcoll_algorithm_t.depth, if the algorithm supports only that.
 *  In gathers, scatters, broadcasts, scans and reductions to a root, ranks may
 * run ahead, so a depth of 2 grows up to dcoll_algorithm_t.ahead, as long as
 * memory for it stays small (512 KiB). In other collectives all ranks wait for
 * all. Where NODE of one start has 8 MiB, a depth of 2 becomes 1: NODE of two
 * would fill the cache that cores share. A depth of 1 stays. */
unsigned dcoll_depth(const dcoll_algorithm_t *algorithm,
                     const dcoll_shape_t *shape, size_t bytes, unsigned depth);

/** The schedules of all ranks. */
typedef struct dcoll_program {
    const dcoll_shape_t *shape; /**< the caller's */
    dcoll_args_t args;
    dcoll_schedule_t *rank; /**< shape->nranks of them, owned */
    const uint64_t *counts; /**< irregular: elements from rank i to rank j, at i
                                 * nranks + j, for dcoll_verify() and
                                 dcoll_cost(); set and owned by the caller */
    bool messages_only; /**< its operations have no places in memory, and it has
                             no result: dcoll_verify() of one start proves that
                             all messages arrive and no rank waits for ever */
} dcoll_program_t;

/** Generates the schedules of all ranks. @p shape must outlive the program.
 *  @return 0, DRAIL_ENOMEM, or DRAIL_ENOTSUP: the algorithm refuses. After an
 *  error there is nothing to free. */
int dcoll_program_make(const dcoll_algorithm_t *algorithm,
                       const dcoll_shape_t *shape, const dcoll_args_t *args,
                       dcoll_program_t *out);
/** Frees the schedules. */
void dcoll_program_free(dcoll_program_t *program);

/* ------------------------------------------------------- verifier, cost --- */

/**
 * Proves that schedules are correct: plays all ranks symbolically for @p starts
 * starts, one after the other without synchronisation. Before each start every
 * rank's user fills the buffers, after it the user reads them. With the number
 * of dcoll_proof_starts() the proof holds for any number of starts (verify.h
 * says why). It proves that
 *  - every block ends where it must;
 *  - any two accesses to the same bytes, of which one writes, are ordered; and
 *    so are accesses to keys;
 *  - nothing waits for ever, and no notification is left over;
 *  - offsets are within the memory that the schedule asks for;
 *  - steps are those of the k-port model, and nothing is moved in vain;
 *  - reductions: each result combines the element of every rank that belongs
 *    to it once, in the order of ranks unless the operation commutes; in an
 *    all-reduce all ranks bracket it in the same way;
 *  - irregular: for the program's counts, elements arrive (those of `labelled`
 *    traffic in order), and no bundle exceeds its room; for any counts within
 *    the traffic, tables have room, and accesses to rooms are ordered. Elements
 *    must be multiples of 16 bytes.
 * On failure, @p why (of @p size bytes) gets one sentence: rank, operation,
 * bytes.
 * @return 0; DRAIL_EINVAL: the schedules are wrong; DRAIL_ENOMEM.
 */
int dcoll_verify(const dcoll_program_t *program, unsigned starts, char *why,
                 size_t size);
/** The number of starts that proves a program for any number: depth + 1, or, if
 *  starts differ (`every`; tables whose SEND may be mapped), depth + the period
 *  after which they repeat. */
unsigned dcoll_proof_starts(const dcoll_program_t *program);

/** Hockney's model with ports: a message of b bytes takes ts + b * tau and
 *  occupies one port of the sender and one of the receiver (Qian and Afsahi,
 *  section 3.2). Any unit of time. */
typedef struct dcoll_cost_model {
    double ts, tau; /**< per message, and per byte of it */
    double copy;    /**< per byte of COPY and of a flag's payload */
    double flag;    /**< from SIGNAL until AWAIT sees it */
    double note;    /**< a notification without data; 0 in the papers */
    double combine; /**< per byte of COMBINE */
    double latency; /**< from when a message has left the ports until it
                         arrives; 0 in the papers */
    unsigned wires; /**< between nodes, all ranks of a node share so many wires,
                         over which a message is spread; 0, as in the papers:
                         only ports */
    double whole;   /**< messages of fewer bytes take one wire */
    bool striped;   /**< each rank has wires of its own instead, as many as it
                         has ports (dcoll_args_t.port_begin); a message is spread
                         over as many as the end with fewer has */
} dcoll_cost_model_t;

/** Predicts the time from 0, when all ranks start, until the last rank is done.
 *  Irregular: for the program's counts, with heads and labels of bundles;
 *  dealing and reading from other ranks of the node count as copying.
 *  @return the time, or a negative DRAIL_E… code; DRAIL_ENOTSUP: irregular, and
 *  the program has no counts. */
double dcoll_cost(const dcoll_program_t *program,
                  const dcoll_cost_model_t *model);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
