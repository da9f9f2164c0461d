/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks take turns at random, some far slower than others. A put is three
 * events: it is posted, its source is read, its target is written; its
 * notification comes after the last, in the order of posting. COMPLETE lasts
 * until all sources have been read.
 */
#include <stdlib.h>
#include <string.h>

#include "collectives.h"
#include "random_play.h"

struct put {
    unsigned from, to;
    const unsigned char *src;
    unsigned char *dst, *flying;
    size_t bytes;
    bool read, written;
};

struct note {        /* of one stream, in the order of posting */
    struct put *put; /* NULL: without data */
    struct note *next;
};

struct rank {
    unsigned start, op;
    bool begun;
    size_t send_bytes, recv_bytes;
    unsigned char *send, *recv, *temp, *node, *lines; /* [depth] of the last */
    unsigned *signalled; /* by flag: starts that have */
    unsigned slowness;   /* it acts once in so many turns */
};

struct play {
    const dcoll_program_t *program;
    unsigned n, starts, depth;
    struct rank *ranks;
    struct note **streams; /* [(to * n + from) * DCOLL_TAGS + tag] */
    struct put *puts;
    size_t nputs, first; /* before first: all written */
    unsigned slow_puts;
    uint64_t random;
    bool wrong;
};

static unsigned below(struct play *p, unsigned limit)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(p->random >> 33) % limit;
}

static unsigned char content(unsigned start, unsigned rank, size_t block,
                             size_t byte)
{
    uint64_t x = start * 1000003u + rank * 8191u + block * 131u + byte + 1;
    return (unsigned char)((x * 0x9e3779b97f4a7c15u) >> 56);
}

/* ------------------------------------------------------------- users --- */

static void fill(struct play *p, unsigned r)
{
    const dcoll_args_t *a = &p->program->args;
    struct rank *rank = &p->ranks[r];
    bool all = a->collective == DCOLL_ALLTOALL;
    for (size_t i = 0; i < rank->send_bytes; i++)
        rank->send[i] = content(rank->start, r, i / a->bytes, i % a->bytes);
    for (size_t i = 0; i < rank->recv_bytes; i++) {
        size_t block = i / a->bytes;
        bool kept =
            a->in_place && (all || a->collective == DCOLL_ALLREDUCE ||
                            rank->send == rank->recv ||
                            (a->collective == DCOLL_ALLGATHER && block == r));
        rank->recv[i] =
            kept ? content(rank->start, r, all ? block : 0, i % a->bytes)
                 : (unsigned char)below(p, 256);
    }
}

/* The operands of the result of rank @p r, combined in the order of ranks. */
static unsigned char reduced(const struct play *p, unsigned start, unsigned r,
                             size_t byte)
{
    const dcoll_args_t *a = &p->program->args;
    const dcoll_reduction_t *by = byte_reduction(a->commutes);
    const size_t block = gives_each(a->collective) ? r : 0;
    const unsigned count = operands_of(a->collective, r, p->n);
    unsigned char value = content(start, 0, block, byte);
    for (unsigned from = 1; from < count; from++)
        value = combined(by, value, content(start, from, block, byte));
    return value;
}

static unsigned char expected(const struct play *p, unsigned r, size_t i)
{
    const dcoll_args_t *a = &p->program->args;
    unsigned start = p->ranks[r].start, block = (unsigned)(i / a->bytes);
    bool rooted =
        a->collective == DCOLL_BCAST || a->collective == DCOLL_SCATTER;
    if (dcoll_collective_reduces(a->collective))
        return reduced(p, start, r, i);
    return content(start, rooted ? a->root : block,
                   gives_each(a->collective) ? r : 0, i % a->bytes);
}

static void look(struct play *p, unsigned r)
{
    const struct rank *rank = &p->ranks[r];
    for (size_t i = 0; i < rank->recv_bytes; i++)
        if (rank->recv[i] != expected(p, r, i))
            p->wrong = true;
}

/* -------------------------------------------------------- operations --- */

static unsigned char *at(struct play *p, unsigned r, unsigned start,
                         dcoll_place_t place)
{
    const dcoll_schedule_t *s = &p->program->rank[r];
    struct rank *rank = &p->ranks[r];
    size_t turn = start % p->depth;
    switch (place.space) {
    case DCOLL_SEND:
        return rank->send + place.offset;
    case DCOLL_RECV:
        return rank->recv + place.offset;
    case DCOLL_TEMP:
        return rank->temp + turn * s->temp_bytes + place.offset;
    default:
        return rank->node + turn * s->node_bytes + place.offset;
    }
}

static unsigned char *line_of(struct play *p, unsigned r, unsigned start,
                              unsigned flag)
{
    size_t line = start % p->depth * p->program->rank[r].flags + flag;
    return p->ranks[r].lines + line * DCOLL_LINE_BYTES;
}

static struct note **stream(struct play *p, unsigned to, unsigned from,
                            dcoll_tag_t tag)
{
    return &p->streams[((size_t)to * p->n + from) * DCOLL_TAGS + tag];
}

static void notify(struct play *p, unsigned from, unsigned to, dcoll_tag_t tag,
                   struct put *put)
{
    struct note **end = stream(p, to, from, tag);
    while (*end)
        end = &(*end)->next;
    *end = calloc(1, sizeof **end);
    (*end)->put = put;
}

static bool take(struct play *p, unsigned to, unsigned from, dcoll_tag_t tag)
{
    struct note **head = stream(p, to, from, tag), *note = *head;
    if (!note || (note->put && !note->put->written))
        return false;
    *head = note->next;
    free(note);
    return true;
}

static void post(struct play *p, unsigned r, const dcoll_op_t *op)
{
    unsigned start = p->ranks[r].start;
    struct put *put = &p->puts[p->nputs++];
    *put = (struct put){.from = r, .to = op->peer, .bytes = op->bytes};
    if (op->bytes) {
        put->src = at(p, r, start, op->src);
        put->dst = at(p, op->peer, start, op->dst);
        put->flying = malloc(op->bytes);
    }
    notify(p, r, op->peer, DCOLL_DATA, put);
}

/* A put by and to the same rank. */
static void get(struct play *p, unsigned r, const dcoll_op_t *op)
{
    unsigned start = p->ranks[r].start;
    struct put *put = &p->puts[p->nputs++];
    *put = (struct put){.from = r, .to = r, .bytes = op->bytes};
    put->src = at(p, op->peer, start, op->src);
    put->dst = at(p, r, start, op->dst);
    put->flying = malloc(op->bytes);
}

static bool all_read(const struct play *p, unsigned r)
{
    for (size_t i = p->first; i < p->nputs; i++)
        if (p->puts[i].from == r &&
            !(p->puts[i].to == r ? p->puts[i].written : p->puts[i].read))
            return false;
    return true;
}

static bool await(struct play *p, unsigned r, const dcoll_op_t *op)
{
    unsigned start = p->ranks[r].start;
    if (p->ranks[op->peer].signalled[op->flag] <= dcoll_op_awaited(op, start))
        return false;
    if (op->bytes)
        memcpy(at(p, r, start, op->dst), line_of(p, op->peer, start, op->flag),
               op->bytes);
    return true;
}

static bool perform(struct play *p, unsigned r, const dcoll_op_t *op)
{
    unsigned start = p->ranks[r].start;
    if (dcoll_op_rests(op, start))
        return true;
    switch (op->kind) {
    case DCOLL_PUT:
        post(p, r, op);
        return true;
    case DCOLL_GET:
        get(p, r, op);
        return true;
    case DCOLL_NOTIFY:
        notify(p, r, op->peer, op->tag, NULL);
        return true;
    case DCOLL_WAIT:
        return start < op->lag || take(p, r, op->peer, op->tag);
    case DCOLL_COMPLETE:
        return all_read(p, r);
    case DCOLL_COPY:
        memmove(at(p, r, start, op->dst), at(p, r, start, op->src), op->bytes);
        return true;
    case DCOLL_COMBINE:
        byte_reduction(p->program->args.commutes)
            ->combine(NULL, at(p, r, start, op->src), at(p, r, start, op->with),
                      at(p, r, start, op->dst), op->bytes);
        return true;
    case DCOLL_SIGNAL:
        if (op->bytes)
            memcpy(line_of(p, r, start, op->flag), at(p, r, start, op->src),
                   op->bytes);
        p->ranks[r].signalled[op->flag] = start + 1;
        return true;
    case DCOLL_AWAIT:
        return start < op->lag || await(p, r, op);
    default:
        abort(); /* of irregular collectives, which it does not play */
    }
    return true;
}

/* Does an operation; false: none could be done. */
static bool go_on(struct play *p, unsigned r)
{
    struct rank *rank = &p->ranks[r];
    const dcoll_schedule_t *s = &p->program->rank[r];
    if (rank->start == p->starts)
        return false;
    if (!rank->begun) {
        fill(p, r);
        rank->begun = true;
    } else if (rank->op < s->nops) {
        if (!perform(p, r, &s->ops[rank->op]))
            return false;
        rank->op++;
    } else {
        look(p, r);
        rank->start++;
        rank->op = 0;
        rank->begun = false;
    }
    return true;
}

/* Does a step of a put under way; false: there is none. */
static bool fly(struct play *p)
{
    while (p->first < p->nputs && p->puts[p->first].written)
        p->first++;
    if (p->first == p->nputs)
        return false;
    size_t count = p->nputs - p->first;
    struct put *put = &p->puts[p->first + below(p, (unsigned)count)];
    if (put->written)
        return true;
    if (!put->read) {
        if (put->bytes)
            memcpy(put->flying, put->src, put->bytes);
        put->read = true;
    } else {
        if (put->bytes)
            memcpy(put->dst, put->flying, put->bytes);
        put->written = true;
    }
    return true;
}

/* ----------------------------------------------------------- playing --- */

/* Is RECV the begin of SEND? */
static bool is_same(const dcoll_args_t *args, unsigned rank)
{
    return args->in_place &&
           (dcoll_in_place_anywhere(args->collective) ||
            (args->collective == DCOLL_REDUCE && rank == args->root));
}

static void set_up(struct play *p)
{
    const dcoll_shape_t *shape = p->program->shape;
    const dcoll_args_t *args = &p->program->args;
    size_t puts = 0;
    for (unsigned r = 0; r < p->n; r++) {
        const dcoll_schedule_t *s = &p->program->rank[r];
        struct rank *rank = &p->ranks[r];
        unsigned first = shape->node_begin[dcoll_shape_node(shape, r)];
        rank->send_bytes = args->bytes * dcoll_send_blocks(args, p->n, r);
        rank->recv_bytes = args->bytes * dcoll_recv_blocks(args, p->n, r);
        rank->send = calloc(rank->send_bytes + 1, 1);
        rank->recv =
            is_same(args, r) ? rank->send : calloc(rank->recv_bytes + 1, 1);
        rank->temp = calloc(p->depth * s->temp_bytes + 1, 1);
        rank->node = r == first ? calloc(p->depth * s->node_bytes + 1, 1)
                                : p->ranks[first].node;
        rank->lines = calloc(p->depth * s->flags + 1, DCOLL_LINE_BYTES);
        rank->signalled = calloc(s->flags + 1, sizeof *rank->signalled);
        rank->slowness = below(p, 3) ? 1 : 1 + below(p, 60);
        for (unsigned i = 0; i < s->nops; i++)
            puts += s->ops[i].kind == DCOLL_PUT || s->ops[i].kind == DCOLL_GET;
    }
    p->puts = calloc(puts * p->starts + 1, sizeof *p->puts);
    p->slow_puts = 1 + below(p, 40);
}

static void tear_down(struct play *p)
{
    const dcoll_shape_t *shape = p->program->shape;
    for (unsigned r = 0; r < p->n; r++) {
        struct rank *rank = &p->ranks[r];
        if (r == shape->node_begin[dcoll_shape_node(shape, r)])
            free(rank->node);
        if (rank->send != rank->recv)
            free(rank->send);
        free(rank->recv);
        free(rank->temp);
        free(rank->lines);
        free(rank->signalled);
    }
    for (size_t i = 0; i < p->nputs; i++)
        free(p->puts[i].flying);
    for (size_t i = 0; i < (size_t)p->n * p->n * DCOLL_TAGS; i++)
        while (p->streams[i]) {
            struct note *next = p->streams[i]->next;
            free(p->streams[i]);
            p->streams[i] = next;
        }
    free(p->puts);
    free(p->streams);
    free(p->ranks);
}

/* Anything at all, when chance finds nothing; false: all are stuck or done. */
static bool anything(struct play *p)
{
    bool moved = fly(p);
    for (unsigned r = 0; r < p->n; r++)
        moved |= go_on(p, r);
    return moved;
}

bool random_play(const dcoll_program_t *program, unsigned starts, unsigned seed)
{
    struct play p = {.program = program,
                     .n = program->shape->nranks,
                     .starts = starts,
                     .depth = program->args.depth,
                     .random = seed + 1};
    p.ranks = calloc(p.n, sizeof *p.ranks);
    p.streams = calloc((size_t)p.n * p.n * DCOLL_TAGS, sizeof *p.streams);
    set_up(&p);
    unsigned idle = 0;
    while (!p.wrong) {
        unsigned r = below(&p, p.n);
        bool moved = !below(&p, p.ranks[r].slowness) && go_on(&p, r);
        if (!below(&p, p.slow_puts))
            moved |= fly(&p);
        idle = moved ? 0 : idle + 1;
        if (idle > 100 * p.n) {
            if (!anything(&p))
                break;
            idle = 0;
        }
    }
    for (unsigned r = 0; r < p.n; r++)
        p.wrong |= p.ranks[r].start < starts;
    tear_down(&p);
    return !p.wrong;
}
