/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verifier finds faults: correct schedules, made by hand, pass; each broken
 * in one way is refused with a sentence about it. Then all algorithms with each
 * operation, and each kind of order, left out in turn.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"
#include "random_play.h"

#define STARTS  3
#define BYTES   8
#define REDUCED (8 * DCOLL_CACHE_LINE) /* of a reduction: all have a slice */

static const unsigned one_node[] = {0, 4}, two_nodes[] = {0, 2, 4};
static const dcoll_shape_t flat = {4, 1, one_node, 2};
static const dcoll_shape_t split = {4, 2, two_nodes, 2};

/* ------------------------------------------------- schedules by hand --- */

/* All-gather by puts into everybody's TEMP, with credits. */
static void exchange(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    unsigned n = shape->nranks;
    size_t bytes = args->bytes;
    s->temp_bytes = n * bytes;
    for (unsigned d = 1; d < n; d++) {
        unsigned to = (rank + d) % n;
        s->step = (uint16_t)((d - 1) / shape->ports);
        dcoll_add_wait(s, to, DCOLL_CREDIT, args->depth);
        dcoll_add_put(s, to, (d - 1) % shape->ports, dcoll_at(DCOLL_SEND, 0),
                      dcoll_at(DCOLL_TEMP, rank * bytes), bytes);
    }
    dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0),
                   dcoll_at(DCOLL_RECV, rank * bytes), bytes);
    for (unsigned d = 1; d < n; d++) {
        unsigned from = (rank + n - d) % n;
        dcoll_add_wait(s, from, DCOLL_DATA, 0);
        dcoll_add_copy(s, dcoll_at(DCOLL_TEMP, from * bytes),
                       dcoll_at(DCOLL_RECV, from * bytes), bytes);
        dcoll_add_notify(s, from, 0, DCOLL_CREDIT);
    }
    dcoll_add_complete(s);
}

/* All-gather by puts into everybody's RECV. */
static void direct(const dcoll_shape_t *shape, const dcoll_args_t *args,
                   unsigned rank, dcoll_schedule_t *s)
{
    unsigned n = shape->nranks;
    dcoll_place_t own = dcoll_at(DCOLL_RECV, rank * args->bytes);
    for (unsigned d = 1; d < n; d++)
        dcoll_add_notify(s, (rank + d) % n, 0, DCOLL_READY);
    dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), own, args->bytes);
    for (unsigned d = 1; d < n; d++) {
        s->step = (uint16_t)(d - 1);
        dcoll_add_wait(s, (rank + d) % n, DCOLL_READY, 0);
        dcoll_add_put(s, (rank + d) % n, 0, own, own, args->bytes);
    }
    for (unsigned d = 1; d < n; d++)
        dcoll_add_wait(s, (rank + d) % n, DCOLL_DATA, 0);
    dcoll_add_complete(s);
}

/* A broadcast along a chain through TEMP; a rank that passes on tidies up
 * behind. */
static void chain(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, dcoll_schedule_t *s)
{
    dcoll_place_t temp = dcoll_at(DCOLL_TEMP, 0);
    dcoll_place_t mine = dcoll_at(rank ? DCOLL_TEMP : DCOLL_SEND, 0);
    s->temp_bytes = args->bytes;
    s->step = (uint16_t)rank;
    if (rank) {
        dcoll_add_wait(s, rank - 1, DCOLL_DATA, 0);
        dcoll_add_copy(s, temp, dcoll_at(DCOLL_RECV, 0), args->bytes);
    }
    if (rank + 1 < shape->nranks) {
        dcoll_add_wait(s, rank + 1, DCOLL_CREDIT, args->depth);
        dcoll_add_put(s, rank + 1, 0, mine, temp, args->bytes);
        dcoll_add_complete(s);
    }
    if (rank)
        dcoll_add_notify(s, rank - 1, 0, DCOLL_CREDIT);
}

/* All-gather in a node's memory. */
static void share(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, dcoll_schedule_t *s)
{
    size_t bytes = args->bytes;
    s->node_bytes = shape->nranks * bytes;
    s->flags = 1;
    dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0),
                   dcoll_at(DCOLL_NODE, rank * bytes), bytes);
    dcoll_add_signal(s, 0, dcoll_at(DCOLL_SEND, 0), 0);
    for (unsigned r = 0; r < shape->nranks; r++) {
        if (r != rank)
            dcoll_add_await(s, r, 0, 0, dcoll_at(DCOLL_RECV, 0), 0);
        dcoll_add_copy(s, dcoll_at(DCOLL_NODE, r * bytes),
                       dcoll_at(DCOLL_RECV, r * bytes), bytes);
    }
}

/* A broadcast in a flag's line; the root waits until the others have read the
 * line that it uses again. */
static void line(const dcoll_shape_t *shape, const dcoll_args_t *args,
                 unsigned rank, dcoll_schedule_t *s)
{
    dcoll_place_t nowhere = dcoll_at(DCOLL_RECV, 0);
    s->flags = 1;
    if (rank == 0) {
        for (unsigned r = 1; r < shape->nranks; r++)
            dcoll_add_await(s, r, 0, args->depth, nowhere, 0);
        dcoll_add_signal(s, 0, dcoll_at(DCOLL_SEND, 0), args->bytes);
    } else {
        dcoll_add_await(s, 0, 0, 0, nowhere, args->bytes);
        dcoll_add_signal(s, 0, nowhere, 0);
    }
}

/* A barrier around a ring, twice. */
static void ring(const dcoll_shape_t *shape, const dcoll_args_t *args,
                 unsigned rank, dcoll_schedule_t *s)
{
    unsigned n = shape->nranks;
    for (unsigned round = 0; round < 2; round++) {
        if (rank || round)
            dcoll_add_wait(s, (rank + n - 1) % n, DCOLL_DATA, 0);
        s->step = (uint16_t)(round * n + rank);
        if (!round || rank != n - 1)
            dcoll_add_notify(s, (rank + 1) % n, 0, DCOLL_DATA);
    }
}

/* ---------------------------------------------------------- breaking --- */

static void drop(dcoll_program_t *p, unsigned rank, unsigned op)
{
    dcoll_schedule_t *s = &p->rank[rank];
    assert_true(op < s->nops);
    s->nops--;
    memmove(&s->ops[op], &s->ops[op + 1], (s->nops - op) * sizeof *s->ops);
}

static void swap(dcoll_program_t *p, unsigned rank, unsigned a, unsigned b)
{
    dcoll_op_t *ops = p->rank[rank].ops;
    dcoll_op_t op = ops[a];
    ops[a] = ops[b];
    ops[b] = op;
}

/* Index of the n-th operation of a kind. */
static unsigned find(const dcoll_program_t *p, unsigned rank, dcoll_kind_t kind,
                     unsigned n)
{
    const dcoll_schedule_t *s = &p->rank[rank];
    unsigned i = 0;
    while (i < s->nops && (s->ops[i].kind != kind || n--))
        i++;
    return i;
}

static unsigned find_wait(const dcoll_program_t *p, unsigned rank,
                          unsigned peer, dcoll_tag_t tag)
{
    const dcoll_schedule_t *s = &p->rank[rank];
    unsigned i = 0;
    while (i < s->nops && (s->ops[i].kind != DCOLL_WAIT ||
                           s->ops[i].peer != peer || s->ops[i].tag != tag))
        i++;
    return i;
}

static dcoll_op_t *op(dcoll_program_t *p, unsigned rank, dcoll_kind_t kind,
                      unsigned n)
{
    unsigned i = find(p, rank, kind, n);
    assert_true(i < p->rank[rank].nops);
    return &p->rank[rank].ops[i];
}

static void drop_wait(dcoll_program_t *p)
{
    drop(p, 2, find_wait(p, 2, 1, DCOLL_DATA));
}

static void drop_put(dcoll_program_t *p)
{
    drop(p, 2, find(p, 2, DCOLL_PUT, 1));
}

static void drop_first_copy(dcoll_program_t *p)
{
    drop(p, 1, find(p, 1, DCOLL_COPY, 0));
}

static void drop_complete(dcoll_program_t *p)
{
    drop(p, 1, find(p, 1, DCOLL_COMPLETE, 0));
}

static void drop_await(dcoll_program_t *p)
{
    drop(p, 0, find(p, 0, DCOLL_AWAIT, 1));
}

static void drop_signal(dcoll_program_t *p)
{
    drop(p, 3, find(p, 3, DCOLL_SIGNAL, 0));
}

/* Notification and wait. */
static void drop_ready(dcoll_program_t *p)
{
    drop(p, 0, find(p, 0, DCOLL_NOTIFY, 0));
    drop(p, 1, find_wait(p, 1, 0, DCOLL_READY));
}

static void drop_credit(dcoll_program_t *p)
{
    drop(p, 1, find(p, 1, DCOLL_NOTIFY, 0));
    drop(p, 0, find_wait(p, 0, 1, DCOLL_CREDIT));
}

static void early_credit(dcoll_program_t *p)
{
    unsigned credit = find(p, 3, DCOLL_NOTIFY, 0);
    for (; credit > 0; credit--)
        swap(p, 3, credit, credit - 1);
}

static void early_ready(dcoll_program_t *p)
{
    unsigned wait = find_wait(p, 1, 2, DCOLL_READY);
    swap(p, 1, wait, wait + 1);
}

static void copy_before_wait(dcoll_program_t *p)
{
    unsigned wait = find_wait(p, 0, 3, DCOLL_DATA);
    swap(p, 0, wait, wait + 1);
}

static void signal_before_copy(dcoll_program_t *p)
{
    unsigned signal = find(p, 2, DCOLL_SIGNAL, 0);
    swap(p, 2, signal, signal - 1);
}

static void put_after_complete(dcoll_program_t *p)
{
    unsigned complete = find(p, 1, DCOLL_COMPLETE, 0);
    swap(p, 1, complete, find(p, 1, DCOLL_PUT, 0));
}

/* Its source is the neighbour's credit away from being put again. */
static void overwrite_source(dcoll_program_t *p)
{
    dcoll_schedule_t *s = &p->rank[1];
    unsigned complete = find(p, 1, DCOLL_COMPLETE, 0);
    dcoll_add_copy(s, dcoll_at(DCOLL_RECV, 0), dcoll_at(DCOLL_TEMP, 0), BYTES);
    swap(p, 1, complete, s->nops - 1);
}

/* All wait before they send. */
static void cross_waits(dcoll_program_t *p)
{
    for (unsigned r = 0; r < p->shape->nranks; r++) {
        unsigned wait = find_wait(p, r, (r + 3) % 4, DCOLL_DATA);
        for (; wait > 0; wait--)
            swap(p, r, wait, wait - 1);
    }
}

static void wrong_target(dcoll_program_t *p)
{
    op(p, 1, DCOLL_PUT, 0)->dst.offset += BYTES;
}

static void wrong_source(dcoll_program_t *p)
{
    dcoll_op_t *copy = op(p, 1, DCOLL_COPY, 2);
    copy->src.offset = (copy->src.offset + BYTES) % (4 * BYTES);
}

static void beyond_target(dcoll_program_t *p)
{
    op(p, 1, DCOLL_PUT, 0)->dst.offset = 4 * BYTES;
}

static void beyond_source(dcoll_program_t *p)
{
    op(p, 1, DCOLL_COPY, 0)->src.offset = 1;
}

static void write_send(dcoll_program_t *p)
{
    op(p, 1, DCOLL_COPY, 0)->dst = dcoll_at(DCOLL_SEND, 0);
}

static void overlap(dcoll_program_t *p)
{
    dcoll_op_t *copy = op(p, 1, DCOLL_COPY, 1);
    copy->dst = dcoll_at(DCOLL_TEMP, copy->src.offset);
}

static void short_message(dcoll_program_t *p)
{
    op(p, 3, DCOLL_PUT, 2)->bytes--;
}

static void long_payload(dcoll_program_t *p)
{
    p->args.bytes = DCOLL_LINE_BYTES + 1;
    op(p, 0, DCOLL_SIGNAL, 0)->bytes = DCOLL_LINE_BYTES + 1;
}

static void short_payload(dcoll_program_t *p)
{
    op(p, 0, DCOLL_SIGNAL, 0)->bytes -= 2;
}

static void old_payload(dcoll_program_t *p)
{
    op(p, 2, DCOLL_AWAIT, 0)->lag = 1;
}

static void signal_twice(dcoll_program_t *p)
{
    dcoll_add_signal(&p->rank[1], 0, dcoll_at(DCOLL_SEND, 0), 0);
}

static void wrong_flag(dcoll_program_t *p)
{
    op(p, 1, DCOLL_SIGNAL, 0)->flag = 1;
}

static void wrong_port(dcoll_program_t *p)
{
    op(p, 1, DCOLL_PUT, 1)->port = 2;
}

static void to_itself(dcoll_program_t *p)
{
    op(p, 1, DCOLL_PUT, 1)->peer = 1;
}

static void to_nobody(dcoll_program_t *p)
{
    op(p, 1, DCOLL_PUT, 1)->peer = 4;
}

static void long_lag(dcoll_program_t *p)
{
    op(p, 1, DCOLL_WAIT, 0)->lag = 3;
}

static void two_lags(dcoll_program_t *p)
{
    dcoll_add_wait(&p->rank[1], 0, DCOLL_CREDIT, 1);
}

static void unequal_node(dcoll_program_t *p)
{
    p->rank[2].node_bytes++;
}

static void unequal_flags(dcoll_program_t *p)
{
    p->rank[2].flags++;
}

static void other_node(dcoll_program_t *p)
{
    p->shape = &split;
}

static void half_barrier(dcoll_program_t *p)
{
    for (unsigned r = 1; r < 4; r++)
        drop(p, r, find(p, r, DCOLL_WAIT, 1));
    for (unsigned r = 0; r < 3; r++)
        drop(p, r, find(p, r, DCOLL_NOTIFY, 1));
}

static void wrong_root(dcoll_program_t *p)
{
    p->args.root = 4;
}

/* ---- gets: of allgather/pull.c, 4 ranks on a node */

static void pull(const dcoll_shape_t *shape, const dcoll_args_t *args,
                 unsigned rank, dcoll_schedule_t *s)
{
    allgather_pull.generate(shape, args, rank, s);
}

static void get_too_early(dcoll_program_t *p)
{
    drop(p, 1, find(p, 1, DCOLL_AWAIT, 0));
}

static void forget_a_reader(dcoll_program_t *p)
{
    drop(p, 1, find(p, 1, DCOLL_AWAIT, 3));
}

static void done_before_complete(dcoll_program_t *p)
{
    unsigned complete = find(p, 1, DCOLL_COMPLETE, 0);
    swap(p, 1, complete, complete + 1);
}

static void not_shared(dcoll_program_t *p)
{
    p->rank[2].shared = false;
}

static void wrong_block(dcoll_program_t *p)
{
    op(p, 1, DCOLL_GET, 0)->dst.offset = 0;
}

static void get_temp(dcoll_program_t *p)
{
    op(p, 1, DCOLL_GET, 0)->src.space = DCOLL_TEMP;
}

typedef void (*generator_t)(const dcoll_shape_t *, const dcoll_args_t *,
                            unsigned, dcoll_schedule_t *);

static const struct broken {
    generator_t generate;
    dcoll_collective_t collective;
    void (*mutate)(dcoll_program_t *);
    const char *why; /* part of the sentence */
} broken[] = {
    {pull, DCOLL_ALLGATHER, get_too_early,
     "(GET of 8 bytes, SEND+0 of rank 2 to RECV+16), which reads them"},
    {pull, DCOLL_ALLGATHER, forget_a_reader,
     "rank 1's SEND, unordered with start 1, the user of rank 1 before it"},
    {pull, DCOLL_ALLGATHER, done_before_complete, "of rank 1 (GET of 8 bytes"},
    {pull, DCOLL_ALLGATHER, not_shared, "the peer's schedule is not shared"},
    {pull, DCOLL_ALLGATHER, wrong_block, "rank 1's RECV"},
    {pull, DCOLL_ALLGATHER, get_temp, "only users' buffers are shared"},
    {pull, DCOLL_ALLGATHER, drop_complete, "no COMPLETE follows"},
    {exchange, DCOLL_ALLGATHER, drop_wait,
     "rank 1 sends 1 DATA to rank 2, which waits for 0"},
    {exchange, DCOLL_ALLGATHER, drop_put,
     "rank 2 sends 0 DATA to rank 0, which waits for 1"},
    {exchange, DCOLL_ALLGATHER, drop_first_copy,
     "block 1 in rank 1's RECV is what was there before"},
    {exchange, DCOLL_ALLGATHER, drop_complete, "no COMPLETE follows"},
    {exchange, DCOLL_ALLGATHER, put_after_complete, "no COMPLETE follows"},
    {exchange, DCOLL_ALLGATHER, copy_before_wait,
     "rank 0 (COPY of 8 bytes, TEMP+24 to RECV+24), which reads them"},
    {exchange, DCOLL_ALLGATHER, cross_waits, "deadlock of 4 ranks"},
    {exchange, DCOLL_ALLGATHER, wrong_target,
     "block 1 in rank 2's RECV is from memory that was never"},
    {exchange, DCOLL_ALLGATHER, wrong_source,
     "block 3 in rank 1's RECV is byte 0 of block 0 of rank 0"},
    {exchange, DCOLL_ALLGATHER, beyond_target, "out of bounds"},
    {exchange, DCOLL_ALLGATHER, beyond_source, "out of bounds"},
    {exchange, DCOLL_ALLGATHER, write_send, "SEND must not be written"},
    {exchange, DCOLL_ALLGATHER, overlap, "source and target overlap"},
    {exchange, DCOLL_ALLGATHER, short_message, "from memory that was never"},
    {exchange, DCOLL_ALLGATHER, wrong_port, "port 2 of 2"},
    {exchange, DCOLL_ALLGATHER, to_itself, "the peer is the rank itself"},
    {exchange, DCOLL_ALLGATHER, to_nobody, "there are only 4 ranks"},
    {exchange, DCOLL_ALLGATHER, long_lag, "the lag is more than the depth 2"},
    {exchange, DCOLL_ALLGATHER, two_lags, "an earlier one has lag 2"},
    {direct, DCOLL_ALLGATHER, drop_ready, "put into RECV without READY"},
    {direct, DCOLL_ALLGATHER, early_ready, "put into RECV without READY"},
    {chain, DCOLL_BCAST, drop_credit, "which writes them"},
    {chain, DCOLL_BCAST, early_credit, "which writes them"},
    {chain, DCOLL_BCAST, overwrite_source, "which reads them"},
    {chain, DCOLL_BCAST, wrong_root, "root 4 of 4 ranks"},
    {share, DCOLL_ALLGATHER, drop_await, "which writes them"},
    {share, DCOLL_ALLGATHER, drop_signal, "deadlock of 4 ranks"},
    {share, DCOLL_ALLGATHER, signal_before_copy, "which writes them"},
    {share, DCOLL_ALLGATHER, signal_twice, "signalled twice"},
    {share, DCOLL_ALLGATHER, wrong_flag, "there are 1 flags"},
    {share, DCOLL_ALLGATHER, unequal_node, "disagree on its memory"},
    {share, DCOLL_ALLGATHER, unequal_flags, "disagree on its memory"},
    {share, DCOLL_ALLGATHER, other_node, "is on another node"},
    {line, DCOLL_BCAST, drop_await, "which reads them"},
    {line, DCOLL_BCAST, long_payload, "a payload has at most 56 bytes"},
    {line, DCOLL_BCAST, short_payload, "the payload has only 6 bytes"},
    {line, DCOLL_BCAST, old_payload, "a payload of an earlier start"},
    {ring, DCOLL_BARRIER, half_barrier, "leaves the barrier without knowing"},
};

static void test_broken(void **state)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const struct broken *b = &broken[i];
        const dcoll_algorithm_t algorithm = {.collective = b->collective,
                                             .generate = b->generate};
        const dcoll_args_t args = {
            .collective = b->collective, .bytes = BYTES, .depth = 2};
        dcoll_program_t p;
        char why[1024];
        assert_int_equal(dcoll_program_make(&algorithm, &flat, &args, &p), 0);
        if (dcoll_verify(&p, STARTS, why, sizeof why))
            fail_msg("case %zu, before it is broken: %s", i, why);
        b->mutate(&p);
        assert_int_equal(dcoll_verify(&p, STARTS, why, sizeof why),
                         DRAIL_EINVAL);
        if (!strstr(why, b->why))
            fail_msg("case %zu: \"%s\", expected \"%s\"", i, why, b->why);
        p.shape = &flat;
        dcoll_program_free(&p);
    }
}

/* ---------------------------------------------------- mutation sweep --- */

static const unsigned five_alone[] = {0, 5}, five_split[] = {0, 2, 5};
static const dcoll_shape_t sweep_shapes[] = {{5, 1, five_alone, 2},
                                             {5, 2, five_split, 2}};

/* Random order is an independent witness: what the verifier accepts must never
 * go wrong, and some of what it refuses must. */
struct tally {
    unsigned missed; /* broken, and accepted */
    unsigned accepted, fooled;
    unsigned refused, shown;
};

#define PLAYS 4

static bool survives(const dcoll_program_t *p)
{
    for (unsigned seed = 0; seed < PLAYS; seed++)
        if (!random_play(p, STARTS + 1, seed))
            return false;
    return true;
}

static bool caught(const dcoll_program_t *p, struct tally *tally)
{
    char why[1024];
    bool refused = dcoll_verify(p, STARTS, why, sizeof why) == DRAIL_EINVAL;
    if (!refused) {
        tally->accepted++;
        tally->fooled += !survives(p);
    }
    return refused;
}

static dcoll_op_t *copy_ops(const dcoll_schedule_t *s)
{
    dcoll_op_t *ops = malloc(s->nops * sizeof *ops);
    assert_non_null(ops);
    memcpy(ops, s->ops, s->nops * sizeof *ops);
    return ops;
}

/* The wait for a notification: the same one of its stream. */
static unsigned find_match(const dcoll_program_t *p, unsigned rank,
                           unsigned index)
{
    const dcoll_op_t *sent = &p->rank[rank].ops[index];
    const dcoll_schedule_t *peer = &p->rank[sent->peer];
    unsigned nth = 0, i;
    for (i = 0; i < index; i++) {
        const dcoll_op_t *o = &p->rank[rank].ops[i];
        nth += (o->kind == DCOLL_NOTIFY && o->peer == sent->peer &&
                o->tag == sent->tag) ||
               (o->kind == DCOLL_PUT && o->peer == sent->peer &&
                sent->tag == DCOLL_DATA);
    }
    for (i = 0; i < peer->nops; i++) {
        const dcoll_op_t *o = &peer->ops[i];
        if (o->kind == DCOLL_WAIT && o->peer == rank && o->tag == sent->tag &&
            !nth--)
            break;
    }
    return i;
}

/* Leaves out one operation, and, of a notification, its wait, too: then the
 * counts are right, and only what it ordered can be missed. */
static bool caught_without(dcoll_program_t *p, unsigned rank, unsigned index,
                           struct tally *tally)
{
    dcoll_schedule_t *s = &p->rank[rank];
    const dcoll_op_t out = s->ops[index];
    bool paired = out.kind == DCOLL_NOTIFY || out.kind == DCOLL_PUT;
    unsigned peer = paired ? out.peer : rank;
    const dcoll_schedule_t before = *s, peer_before = p->rank[peer];
    unsigned match = paired ? find_match(p, rank, index) : 0;
    s->ops = copy_ops(s);
    if (paired) {
        p->rank[peer].ops = copy_ops(&peer_before);
        drop(p, peer, match);
    }
    drop(p, rank, index);
    bool found = caught(p, tally);
    if (paired) {
        free(p->rank[peer].ops);
        p->rank[peer] = peer_before;
    }
    free(s->ops);
    *s = before;
    return found;
}

static bool caught_shifted(dcoll_program_t *p, unsigned rank, unsigned index,
                           struct tally *tally)
{
    dcoll_op_t *o = &p->rank[rank].ops[index];
    dcoll_place_t *place = o->kind == DCOLL_SIGNAL ? &o->src : &o->dst;
    place->offset += p->args.bytes;
    bool found = caught(p, tally);
    place->offset -= p->args.bytes;
    return found;
}

/* May it be superfluous? Others may imply the same order, where all ranks hear
 * of all. What moves bytes never is. */
static bool superfluous(const dcoll_op_t *o)
{
    return o->kind == DCOLL_NOTIFY ||
           (!o->bytes && (o->kind == DCOLL_SIGNAL || o->kind == DCOLL_AWAIT ||
                          o->kind == DCOLL_PUT));
}

static void name_missed(const dcoll_program_t *p, const dcoll_algorithm_t *a,
                        const char *what)
{
    print_message("%s %s, %u nodes, in place %d, zero copy %d, depth %u: not "
                  "missed: %s\n",
                  dcoll_collective_name(a->collective), a->name,
                  p->shape->nnodes, p->args.in_place, p->args.zero_copy,
                  p->args.depth, what);
}

static void sweep_ops(const dcoll_algorithm_t *a, dcoll_program_t *p,
                      struct tally *tally)
{
    for (unsigned r = 0; r < p->shape->nranks; r++)
        for (unsigned i = 0; i < p->rank[r].nops; i++) {
            const dcoll_op_t *o = &p->rank[r].ops[i];
            bool found = caught_without(p, r, i, tally) &&
                         (!o->bytes || caught_shifted(p, r, i, tally));
            char what[64];
            if (found || superfluous(o))
                continue;
            snprintf(what, sizeof what, "%s %u of rank %u",
                     dcoll_kind_name(o->kind), i, r);
            name_missed(p, a, what);
            tally->missed++;
        }
}

/* Order that cannot be had otherwise: what is left out everywhere, at once. */
static const struct order {
    const char *name;
    dcoll_kind_t kind;
    dcoll_tag_t tag; /* of a WAIT, with its NOTIFY */
    bool lag;        /* only those with one, only those without */
} orders[] = {
    {"all WAITs for DATA", DCOLL_WAIT, DCOLL_DATA, false},
    {"all READY", DCOLL_WAIT, DCOLL_READY, false},
    {"all CREDIT", DCOLL_WAIT, DCOLL_CREDIT, true},
    {"all AWAITs of this start", DCOLL_AWAIT, 0, false},
    {"all AWAITs of earlier starts", DCOLL_AWAIT, 0, true},
};

static bool belongs(const struct order *order, const dcoll_op_t *o)
{
    bool notify = o->kind == DCOLL_NOTIFY && order->kind == DCOLL_WAIT &&
                  order->tag != DCOLL_DATA && o->tag == order->tag;
    bool waits = o->kind == order->kind && !!o->lag == order->lag &&
                 (o->kind == DCOLL_AWAIT || o->tag == order->tag);
    return notify || waits;
}

/* Permission to send is there to keep ranks apart; only with zero copy does
 * safety hang on it. When everybody hears of everybody in two hops (gather and
 * broadcast, all groups), the next start's news tell that the last is over; and
 * of two masters, with two ports, one answers the other. In a reduce-scatter of
 * five ranks, with two ports, a rank gets data in an earlier step from those
 * that it puts to. */
static bool implied(const struct order *order, const dcoll_program_t *p,
                    const dcoll_algorithm_t *a)
{
    bool lagging = order->kind == DCOLL_AWAIT && order->lag;
    bool credit = order->kind == DCOLL_WAIT && order->tag == DCOLL_CREDIT;
    if (!strcmp(a->name, "smp-doubling"))
        return credit && p->shape->ports == 2;
    if (!strcmp(a->name, "bruck") &&
        a->collective == DCOLL_REDUCE_SCATTER_BLOCK)
        return credit;
    if (!strcmp(a->name, "permission"))
        return order->tag == DCOLL_READY && p->args.depth == 2 &&
               (!p->args.zero_copy || p->args.in_place);
    return lagging && p->args.depth == 1 && a->collective == DCOLL_ALLGATHER &&
           (strstr(a->name, "gather") || !strcmp(a->name, "mc-allgroup"));
}

static void sweep_orders(const dcoll_algorithm_t *a, dcoll_program_t *p,
                         struct tally *tally)
{
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        unsigned dropped = 0;
        dcoll_program_t less;
        assert_int_equal(dcoll_program_make(a, p->shape, &p->args, &less), 0);
        for (unsigned r = 0; r < p->shape->nranks; r++)
            for (unsigned i = less.rank[r].nops; i-- > 0;)
                if (belongs(&orders[k], &less.rank[r].ops[i])) {
                    drop(&less, r, i);
                    dropped++;
                }
        if (dropped && caught(&less, tally)) {
            tally->refused++;
            tally->shown += !survives(&less);
        } else if (dropped && !implied(&orders[k], p, a)) {
            name_missed(p, a, orders[k].name);
            tally->missed++;
        }
        dcoll_program_free(&less);
    }
}

static void sweep_algorithm(const dcoll_algorithm_t *a, struct tally *tally)
{
    for (unsigned variant = 0; variant < 16; variant++) {
        const dcoll_shape_t *shape = &sweep_shapes[variant & 1];
        bool reduces = dcoll_collective_reduces(a->collective);
        bool has_in_place = a->collective == DCOLL_ALLGATHER ||
                            a->collective == DCOLL_ALLTOALL ||
                            a->collective == DCOLL_ALLREDUCE;
        const bool slices = !strcmp(a->name, "scatter-allgather");
        dcoll_args_t args = {
            .collective = a->collective,
            .bytes = reduces || slices ? REDUCED : BYTES,
            .root = 1,
            .in_place = has_in_place && variant & 2,
            .zero_copy = variant & 4,
            .depth = variant & 8 ? 1 : 2,
        };
        dcoll_program_t p;
        args.commutes = dcoll_needs_commuting(a, shape, &args);
        int rc = dcoll_program_make(a, shape, &args, &p);
        if (rc == DRAIL_ENOTSUP)
            continue;
        assert_int_equal(rc, 0);
        assert_false(caught(&p, tally));
        sweep_ops(a, &p, tally);
        sweep_orders(a, &p, tally);
        dcoll_program_free(&p);
    }
}

static void test_mutations(void **state)
{
    struct tally tally = {0};
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        sweep_algorithm(*a, &tally);
    print_message("accepted %u, of which random order refutes %u; refused %u "
                  "kinds of order, of which it shows %u to be missing\n",
                  tally.accepted, tally.fooled, tally.refused, tally.shown);
    assert_int_equal(tally.missed, 0);
    assert_int_equal(tally.fooled, 0);
    assert_true(tally.shown > tally.refused / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
