/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/grant.h"
#include "coll/build/smp/node_chain.h"

#define PIECES_MOST 64u

/* None is empty. */
static struct slices pieces_of(const dcoll_args_t *args, size_t bytes)
{
    dcoll_args_t whole = *args;
    whole.bytes = bytes;
    struct slices s = slices_of(&whole, PIECES_MOST);
    const size_t count = bytes / NODE_CHAIN_PIECE, units = slices_units(&s);
    const size_t most = units < PIECES_MOST ? units : PIECES_MOST;
    s.count = (unsigned)(count < most ? count : most);
    if (s.count < 1)
        s.count = 1;
    return s;
}

struct node_chain node_chain_of(const struct node *n, size_t bytes,
                                unsigned first)
{
    const unsigned begin = n->first, count = n->count;
    const struct node_chain c = {
        .node = n,
        .pieces = pieces_of(n->args, bytes),
        .first = first,
        .before = begin + (n->rank - begin + count - 1) % count,
        .last = begin + (first - begin + count - 1) % count};
    if (count > 1) {
        n->s->flags = NODE_ARRIVED + c.pieces.count;
        n->s->node_bytes = combine_stride(bytes);
    }
    return c;
}

static bool is_first(const struct node_chain *c)
{
    return c->node->rank == c->first;
}

static bool is_last(const struct node_chain *c)
{
    return c->node->rank == c->last;
}

struct piece {
    size_t at, bytes;
    unsigned flag;
};

static struct piece piece_of(const struct node_chain *c, unsigned number)
{
    const size_t at = slices_begin(&c->pieces, number);
    return (struct piece){at, slices_begin(&c->pieces, number + 1) - at,
                          NODE_ARRIVED + number};
}

static dcoll_place_t vector_at(const struct piece *p)
{
    return dcoll_at(DCOLL_NODE, p->at);
}

static void add_piece(const struct node_chain *c, const struct piece *p,
                      dcoll_place_t mine, dcoll_place_t sum)
{
    const struct node *n = c->node;
    const dcoll_place_t own = combine_at(mine, p->at);
    if (is_first(c)) {
        dcoll_add_copy(n->s, own, vector_at(p), p->bytes);
        return;
    }
    node_await(n, c->before, p->flag, 0);
    dcoll_add_combine(n->s, vector_at(p), own, sum, p->bytes);
}

void node_chain_add(const struct node_chain *c, dcoll_place_t mine,
                    dcoll_place_t result)
{
    const bool apart = is_last(c) && result.space != DCOLL_NODE;
    for (unsigned i = 0; i < c->pieces.count; i++) {
        const struct piece p = piece_of(c, i);
        add_piece(c, &p, mine,
                  apart ? combine_at(result, p.at) : vector_at(&p));
        if (!apart)
            node_signal(c->node, p.flag);
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* An empty range waits, too: that the sum is there tells that all ranks have
 * begun. */
void node_chain_fetch(const struct node_chain *c, size_t begin, size_t end,
                      dcoll_place_t to)
{
    size_t at = begin;
    for (unsigned i = 0; i < c->pieces.count; i++) {
        const struct piece p = piece_of(c, i);
        const size_t behind = least(p.at + p.bytes, end);
        if (at >= p.at + p.bytes && i + 1 < c->pieces.count)
            continue;
        if (!is_last(c))
            node_await(c->node, c->last, p.flag, 0);
        dcoll_add_copy(c->node->s, dcoll_at(DCOLL_NODE, at),
                       combine_at(to, at - begin), behind - at);
        at = behind;
        if (at == end)
            break;
    }
}

void node_chain_share(const struct node_chain *c, dcoll_place_t mine,
                      size_t begin, size_t end, dcoll_place_t to)
{
    if (is_first(c))
        node_enter(c->node);
    node_chain_add(c, mine, dcoll_at(DCOLL_NODE, 0));
    node_chain_fetch(c, begin, end, to);
    if (!is_first(c))
        node_leave(c->node);
}

/* ---------------------------------------------------------------- scans --- */

/* The first rank has nobody before it: its result is its own block. */
static void begin_scan(const struct node_chain *c, const struct piece *p)
{
    const struct node *n = c->node;
    const dcoll_place_t mine = dcoll_at(DCOLL_SEND, p->at);
    if (n->count > 1)
        dcoll_add_copy(n->s, mine, vector_at(p), p->bytes);
    if (n->args->collective == DCOLL_SCAN)
        dcoll_add_copy(n->s, mine, dcoll_at(DCOLL_RECV, p->at), p->bytes);
}

/* In place, an exscan's result replaces my operand. */
static void scan(const struct node_chain *c, const struct piece *p)
{
    const struct node *n = c->node;
    const bool exclusive = n->args->collective == DCOLL_EXSCAN;
    const dcoll_place_t result = dcoll_at(DCOLL_RECV, p->at);
    const dcoll_place_t sum = exclusive ? dcoll_at(DCOLL_TEMP, 0) : result;
    if (!exclusive || !is_last(c))
        dcoll_add_combine(n->s, vector_at(p), dcoll_at(DCOLL_SEND, p->at), sum,
                          p->bytes);
    if (exclusive)
        dcoll_add_copy(n->s, vector_at(p), result, p->bytes);
    if (!is_last(c))
        dcoll_add_copy(n->s, sum, vector_at(p), p->bytes);
}

static void scan_piece(const struct node_chain *c, const struct piece *p)
{
    if (is_first(c)) {
        begin_scan(c, p);
    } else {
        node_await(c->node, c->before, p->flag, 0);
        scan(c, p);
    }
    if (!is_last(c))
        node_signal(c->node, p->flag);
}

/* The last rank tells the first one when the vector may be begun again. */
void node_chain_scan(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const struct node_chain chain =
        node_chain_of(&node, args->bytes, node.first);
    s->phase = 1;
    if (args->collective == DCOLL_EXSCAN && node.count > 1)
        s->temp_bytes = slices_most(&chain.pieces);
    if (is_first(&chain) && node.count > 1) {
        node_await(&node, chain.last, NODE_DONE, args->depth);
        grant_in_bulk(s, args);
    }
    for (unsigned i = 0; i < chain.pieces.count; i++) {
        const struct piece p = piece_of(&chain, i);
        scan_piece(&chain, &p);
    }
    if (is_last(&chain) && node.count > 1) {
        node_signal(&node, NODE_DONE);
        grant_in_bulk(s, args);
    }
}
