/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verifier, in reading order:
 *
 *   verify.c  dcoll_verify: checks, then plays all ranks until each blocks
 *   check.c, check_place.c, check_irregular.c
 *             checks without playing: ranges, counts, peers
 *   ports.c   the k-port model: steps
 *   state.c   allocates the state of all ranks
 *   play.c    plays one operation
 *   clock.c   vector clocks, notifications, flags
 *   puts.c    puts and gets under way
 *   memory.c  contents of memory, and accesses to it (races)
 *   terms.c   reductions: which elements have been combined, and how
 *   bundle.c  irregular collectives: dealing and delivering elements
 *   offer.c   irregular collectives: tables in node memory
 *   use.c     is everything that is moved needed?
 *   input.c   contents of the users' buffers
 *   user.c    users fill their buffers and check the results
 *   text.c    sentences
 *
 * Why one interleaving is enough. Ranks are deterministic: they block only for
 * the next notification of one sender and for a flag of one start. So all
 * interleavings have the same happens-before relation, and playing one of them
 * with vector clocks finds every error that any of them can have.
 *
 * Why few starts are enough. If each start performs all operations, depth + 1
 * starts are enough. What holds for starts s and s + d holds for 0 and d: all
 * starts do the same; and an order between two starts (of one rank, or by a
 * message sent `lag` starts ago) never leads back to an earlier start, so no
 * start outside s … s + d takes part. The same memory is used again after at
 * most d = depth starts, and an access that is ordered with the next one is
 * ordered with all that follow. A WAIT with a lag waits for an earlier start;
 * so a circle of ranks that wait for each other has no such WAIT, and closes
 * already in start 0. If operations are performed once in g starts, a start
 * does the same as the one g before it: what holds for s and s + d holds for s
 * mod g and (s mod g) + d. So depth + g starts are enough. A group that is
 * waited for ends before the present start, as g <= lag.
 *
 * Irregular calls. Rails may map the SEND of one rank and not of another, in
 * one start and not in the next; this decides which parts an OFFER leaves in
 * SEND. The verifier plays that rails map each rank's SEND in every third
 * start, and its neighbours' in other starts. So a start does the same as the
 * one three before it. The depth is a power of two, so a start that reuses
 * memory differs from the one that used it before. With other values of
 * `pulled`, all ranks leave, or all copy, their parts in all starts.
 *
 * Two cases are not played, as they only remove accesses. A receiver may refuse
 * the elements: its `room` is too small, or it expects other counts. Then its
 * DELIVER, its PICKs and sized PUTs to it move nothing. A sender may refuse its
 * own call: then its table has only a head, nothing stays in SEND, and all
 * receivers refuse. All other operations are performed as usual. So the same
 * messages and flags order a subset of the accesses: there is no new race and
 * no deadlock. The errors that callers get are tested by test_alltoallv_*.c.
 *
 * The order of elements with destinations in SEND does not matter: the counters
 * of DISTRIBUTE are by destination, and OFFER sorts. The verifier has them in
 * the order of destinations.
 */
#ifndef DCOLL_VERIFY_H
#define DCOLL_VERIFY_H

#include "coll/build/irregular/bundle.h"
#include "coll/schedule.h"

#define NONE UINT32_MAX

/* Rails map a rank's SEND once in so many starts. */
#define MAPPED_EVERY 3

/* ---------------------------------------------------------- clock.c --- */

/* The clock of a rank at a release. Only its own entry grows without messages
 * of others; so that entry is kept apart, and many releases share a snapshot of
 * the rest. */
struct release {
    uint32_t snapshot, own;
};

/* The clocks of releases, with reference counts. */
struct snapshots {
    uint32_t *clock; /* nranks each */
    uint32_t *users; /* of a free one: the next free */
    uint32_t count, capacity, free;
};

struct message {
    struct release release;
    uint32_t put;    /* NONE: none */
    uint32_t behind; /* its receiver comes after so many steps of this start */
    uint32_t next;
};

/* Notifications from one rank to another with one tag. */
struct stream {
    uint32_t head, tail;        /* messages under way; NONE */
    uint32_t posts, waits, lag; /* in one start that performs them */
    uint32_t posts_every, waits_every;
};

struct flag {
    struct release release; /* own 0: not signalled */
    uint32_t behind;        /* as that of a message */
    size_t bytes;
};

/* --------------------------------------------------------- memory.c --- */

/* One access: `when` is the clock of rank `who`, or `who` is a put. */
struct access {
    uint32_t who, when;
    uint32_t what; /* start and operation, see what_of() */
};

#define IS_PUT 0x80000000u

/* A put reads and writes from its posting until a rank knows that it is over.
 * The target of a get is the poster, which sees it with COMPLETE. READY is a
 * put of a key, for which COMPLETE does not wait. */
struct put {
    uint32_t poster, completed; /* clock of its COMPLETE, NONE: none yet */
    uint32_t target, seen;      /* clock of its WAIT, NONE: none yet */
    uint32_t number;            /* of those of its start, from 1 */
    uint32_t what;
    uint32_t next; /* of those that no COMPLETE followed yet */
};

/* Reads since the latest write that are not ordered with each other. */
struct reader {
    struct access access;
    uint32_t next;
};

/* `grain` bytes of memory, always accessed together. */
struct cell {
    uint64_t value; /* 0: nothing was written */
    struct access write, read;
    uint32_t readers; /* more of them; NONE */
};

/* ------------------------------------------------------------ use.c --- */

/* What happened to the cells that an operation wrote, in all starts. */
struct use {
    uint32_t cells, fresh, read; /* fresh: they held something else before */
};

/* ---------------------------------------------------------- terms.c --- */

/* Reductions: the content of a cell. Equal terms are one, so a term is known by
 * its value. */
struct term {
    uint64_t left, right; /* values that were combined */
    uint32_t start;       /* its operands are of this start, … */
    uint32_t first, last; /* … of ranks first … last, unless the operation
                             commutes, … */
    uint32_t ranks;       /* … of so many, … */
    uint64_t cell;        /* … and of this cell of the blocks */
};

struct terms {
    struct term *all;
    uint32_t count, capacity;
    uint32_t *index; /* hashed: number + 1, 0: none */
    size_t slots;    /* of the index, a power of two */
};

/* --------------------------------------------------------- verify.c --- */

struct player {
    uint32_t *clock;
    uint32_t snapshot; /* of clock, NONE: it has changed since */
    uint32_t puts;     /* that no COMPLETE followed yet */
    unsigned start, op;
    bool begun;           /* the user has filled the buffers of this start */
    size_t send, recv;    /* bytes */
    struct cell *user[2]; /* SEND, RECV */
    struct cell *temp, *node, *lines;
    struct cell *keys;  /* by rank: what READY brought, and the own one; NULL:
                           there is no READY */
    struct flag *flags; /* [start * flags + flag] */
    uint32_t *begin;    /* by start: clock when it began; 0: has not */
    uint32_t *ready;    /* by peer: latest start + 1 with its READY */
    uint32_t behind;    /* steps of this start that it knows to be over */
    struct use *uses;   /* by operation */
    uint32_t posted;    /* puts and gets, in this start */
    uint64_t *counter;  /* DISTRIBUTE: by destination */
    bool *pulled;       /* by destination: OFFER, it stays in SEND */
    uint32_t *came;     /* by cell of RECV, as if in order: latest start + 1
                           with that, of elements that are not labelled */
    unsigned expected;  /* EXPECT: nodes that it has read, in this start */
};

struct verifier {
    const dcoll_program_t *program;
    const dcoll_shape_t *shape;
    unsigned nranks, starts;
    size_t grain;      /* bytes of a cell */
    size_t line_cells; /* of a payload */
    bool keys;         /* READY is sent */
    struct player *players;
    struct cell *cells; /* of all memories */
    size_t ncells;
    struct use *uses; /* of all ranks' operations and users */
    size_t nuses;
    struct stream *streams; /* [(to * nranks + from) * DCOLL_TAGS + tag] */
    struct snapshots snapshots;
    struct message *messages;
    uint32_t nmessages, messages_capacity, messages_free;
    struct put *puts;
    uint32_t nputs, puts_capacity;
    struct reader *readers;
    uint32_t nreaders, readers_capacity;
    struct terms terms;
    uint64_t *results;       /* of an allreduce, by start and cell; 0: none */
    struct bundle_run *runs; /* of all bundles, by their cells' values */
    uint32_t nruns, runs_capacity;
    int error; /* 0, or what dcoll_verify returns */
    char *why;
    size_t size;
};

/* The rank or the put that accesses memory. */
struct actor {
    unsigned rank;
    struct access access; /* as recorded in the cells */
    struct use *use;
};

/* Kinds of memory besides the spaces of a schedule: lines, keys. */
enum { REGION_LINE = DCOLL_NODE + 1, REGION_KEY };

/* Part of a memory, for accesses and sentences. */
struct region {
    struct cell *cells;
    size_t offset; /* bytes in the memory; of keys: whose it is */
    unsigned rank; /* of the memory */
    unsigned kind; /* dcoll_space_t, or REGION_… */
};

static inline const dcoll_schedule_t *schedule_of(const struct verifier *v,
                                                  unsigned rank)
{
    return &v->program->rank[rank];
}

static inline bool is_irregular(const struct verifier *v)
{
    return v->program->args.traffic;
}

static inline bool verify_is_reduction(const struct verifier *v)
{
    return dcoll_collective_reduces(v->program->args.collective);
}

/* Elements from one rank to another. */
static inline uint64_t count_of(const struct verifier *v, unsigned from,
                                unsigned to)
{
    return v->program->counts[(size_t)from * v->nranks + to];
}

/* The bytes that a rank sends, or receives. */
size_t verify_traffic(const struct verifier *v, unsigned rank, bool receives);

static inline size_t send_bytes(const struct verifier *v, unsigned rank)
{
    const dcoll_args_t *args = &v->program->args;
    if (is_irregular(v))
        return verify_traffic(v, rank, false);
    return dcoll_send_bytes(args, v->nranks, rank);
}

static inline size_t recv_bytes(const struct verifier *v, unsigned rank)
{
    const dcoll_args_t *args = &v->program->args;
    if (is_irregular(v))
        return verify_traffic(v, rank, true);
    return dcoll_recv_bytes(args, v->nranks, rank);
}

static inline struct stream *stream_of(const struct verifier *v, unsigned to,
                                       unsigned from, dcoll_tag_t tag)
{
    return &v->streams[((size_t)to * v->nranks + from) * DCOLL_TAGS + tag];
}

/* The operations of the user follow those of the schedule. */
enum { USER_FILLS, USER_READS, USER_OPS };

static inline uint32_t what_of(const struct verifier *v, unsigned rank,
                               unsigned start, unsigned op)
{
    return start * (schedule_of(v, rank)->nops + USER_OPS) + op;
}

/* The operation; NULL: the user's. */
static inline const dcoll_op_t *op_of(const struct verifier *v, unsigned rank,
                                      uint32_t what)
{
    const dcoll_schedule_t *s = schedule_of(v, rank);
    unsigned op = what % (s->nops + USER_OPS);
    return op < s->nops ? &s->ops[op] : NULL;
}

/* All later messages of the rank come after so many steps. */
static inline void verify_hear(struct player *p, uint32_t steps)
{
    if (p->behind < steps)
        p->behind = steps;
}

/* Makes room for one more; false: out of memory, and v->error says so. */
bool verify_room(struct verifier *v, void **array, uint32_t count,
                 uint32_t *capacity, size_t size);

static inline unsigned depth_of(const struct verifier *v)
{
    return v->program->args.depth;
}

static inline size_t cells_of(const struct verifier *v, size_t bytes)
{
    return (bytes + v->grain - 1) / v->grain;
}

/* Allocates the state of all ranks. 0 or DRAIL_ENOMEM; verify_tear_down() in
 * either case. */
int verify_set_up(struct verifier *v);
void verify_tear_down(struct verifier *v);
/* Plays one operation of a rank. False: the rank must wait. */
bool verify_play(struct verifier *v, unsigned rank, const dcoll_op_t *op);

/* Before playing: sets grain, streams' counts; v->error. */
void verify_check(struct verifier *v);
/* Is each step one of the k-port model? */
void verify_ports(struct verifier *v);
/* While playing: may the rank still send in the operation's step? */
bool verify_step(struct verifier *v, unsigned rank, const dcoll_op_t *op);
/* After playing: was everything that was moved needed? */
void verify_uses(struct verifier *v);

bool verify_release(struct verifier *v, unsigned rank, struct release *out);
void verify_acquire(struct verifier *v, unsigned rank, unsigned from,
                    struct release release);
bool verify_send(struct verifier *v, unsigned from, const dcoll_op_t *op,
                 uint32_t put);
/* false: there is none. */
bool verify_receive(struct verifier *v, unsigned rank, unsigned from,
                    dcoll_tag_t tag);

/* Accesses of `bytes`; false: v->error is set. */
bool verify_move(struct verifier *v, const struct actor *actor,
                 const struct region *src, const struct region *dst,
                 size_t bytes);
bool verify_read(struct verifier *v, const struct actor *actor,
                 const struct region *region, size_t cell);
bool verify_write(struct verifier *v, const struct actor *actor,
                  const struct region *region, size_t cell, uint64_t value);

/* The value of a cell of a rank's input in a start; and the cell of a value.
 * False: it is not the value of any. */
uint64_t verify_input(const struct verifier *v, unsigned start, unsigned rank,
                      size_t block, size_t cell);
bool verify_input_of(const struct verifier *v, uint64_t value, unsigned *start,
                     unsigned *rank, size_t *block, size_t *cell);

/* Cells of an element. */
static inline size_t verify_unit(const struct verifier *v)
{
    return v->program->args.traffic->element / v->grain;
}

/* Irregular: a cell of the elements from one rank to another. */
struct origin {
    unsigned from, to;
    size_t cell;
};

/* The cell of a value in a start. False: it is not the value of any. */
bool verify_origin(const struct verifier *v, unsigned start, uint64_t value,
                   struct origin *origin);

/* COMBINE, on a rank. */
bool verify_combine(struct verifier *v, const struct actor *actor,
                    const struct region *left, const struct region *right,
                    const struct region *dst, size_t bytes);
/* Reductions: does a result combine all ranks that belong to it, in an
 * all-reduce in the same way as on the other ranks? False: v->error is set. */
bool verify_result(struct verifier *v, unsigned rank, size_t cell,
                   uint64_t value);
void verify_terms_free(struct verifier *v);

/* Irregular: with other counts within the traffic, the operation would also
 * access bytes from … end - 1 of a room. So these accesses must be ordered,
 * too. The contents are undefined afterwards, and do not count as needed. */
bool verify_may_read(struct verifier *v, const struct actor *actor,
                     const struct region *region, size_t from, size_t end);
bool verify_may_write(struct verifier *v, const struct actor *actor,
                      const struct region *region, size_t from, size_t end);
bool verify_may_move(struct verifier *v, const struct actor *actor,
                     const struct region *src, const struct region *dst,
                     size_t from, size_t end);

/* The writer of a cell is about to write it again: if no rank has read it, the
 * first write does not count as one for others. */
void verify_forget(struct verifier *v, const struct cell *cell);

/* Does the program have counts, and are they within its traffic? */
void verify_counts(struct verifier *v);
/* The bundle of a sized operation. False: v->error is set, there is none. */
bool verify_bundle(struct verifier *v, const struct actor *actor,
                   const struct region *bundle, size_t room, size_t *bytes);
/* The same for a bundle of the phase before. */
bool verify_arrived(struct verifier *v, const struct actor *actor,
                    const struct region *bundle, size_t room, size_t *bytes);
/* Writes the head of a bundle of the present phase. */
bool verify_head(struct verifier *v, const struct actor *actor,
                 const struct region *bundle, size_t bytes);
/* DISTRIBUTE and COLLECT from, or DELIVER to, `user`, which is SEND, or RECV.
 * src NULL: the user's elements. */
void verify_deal(struct verifier *v, const dcoll_op_t *op,
                 const struct actor *actor, const struct region *src,
                 const struct region *buckets);
void verify_deliver(struct verifier *v, const dcoll_op_t *op,
                    const struct actor *actor, const struct region *bundles,
                    const struct region *recv);

/* Is it a PUT from SEND in an irregular collective? */
static inline bool is_placed(const struct verifier *v, const dcoll_op_t *op)
{
    return is_irregular(v) && op->kind == DCOLL_PUT &&
           op->src.space == DCOLL_SEND;
}

bool verify_put_placed(struct verifier *v, const dcoll_op_t *op,
                       const struct actor *actor);
/* OFFER, PACK, EXPECT and PICK. */
void verify_offer(struct verifier *v, const dcoll_op_t *op,
                  const struct actor *actor, const struct region *send,
                  const struct region *table);
void verify_pack(struct verifier *v, const dcoll_op_t *op,
                 const struct actor *actor, const struct region *tables,
                 const struct region *bundle);
/* src: the tables, or a bundle. */
void verify_expect(struct verifier *v, const dcoll_op_t *op,
                   const struct actor *actor, const struct region *src);
/* Has the rank read the offers of all nodes? False: v->error is set. */
bool verify_expected(struct verifier *v, unsigned rank);
void verify_pick(struct verifier *v, const dcoll_op_t *op,
                 const struct actor *actor, const struct region *table,
                 const struct region *recv);
/* The actor of the operation that the rank performs. */
struct actor verify_actor(const struct verifier *v, unsigned rank);
/* Begins a put: its index, and its actor; or NONE. */
uint32_t verify_start_put(struct verifier *v, unsigned rank, unsigned target,
                          struct actor *actor);
/* The next COMPLETE waits for this put. */
void verify_to_complete(struct verifier *v, unsigned rank, uint32_t put);
/* The same two for a get of the rank. */
bool verify_start_get(struct verifier *v, unsigned rank, struct actor *actor);
void verify_complete(struct verifier *v, unsigned rank, const dcoll_op_t *op);

/* In place, at a root or, in some collectives, on all ranks, SEND and RECV are
 * the same memory. */
void verify_user_alias(struct verifier *v);
void verify_user_fill(struct verifier *v, unsigned rank);
void verify_user_read(struct verifier *v, unsigned rank);

/* "start 1, operation 3 of rank 2 (WAIT for DATA from rank 1)" */
void verify_where(const struct verifier *v, unsigned rank, uint32_t what,
                  char *text, size_t size);
/* The first error counts. */
void verify_fail(struct verifier *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, for an operation: its description comes first. */
void verify_fail_at(struct verifier *v, unsigned rank, unsigned start,
                    unsigned op, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* "bytes 8 … 15 of rank 3's TEMP" */
void verify_place(const struct verifier *v, const struct region *region,
                  size_t cell, char *text, size_t size);
/* DATA of a PUT and of a get (which notifies no rank), or the tag of a NOTIFY.
 */
static inline dcoll_tag_t verify_tag(const dcoll_op_t *op)
{
    return op->kind == DCOLL_NOTIFY ? op->tag : DCOLL_DATA;
}

#endif
