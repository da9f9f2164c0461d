/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/smp/node_slices.h"

/* Bytes of the block whose pieces are in NODE at a time: enough that copying
 * takes longer than waiting for all others; at most what caches may hold of all
 * ranks; more if there would be too many pieces. */
#define AT_ONCE_LEAST (256u << 10)
#define AT_ONCE_MOST  (1u << 20)
#define AT_ONCE_ALL   (2u << 20)
#define PIECES_MOST   64u

static struct slices slices_of_block(const struct node_slices *s)
{
    return slices_of(s->node->args, s->owners);
}

size_t node_slice_begin(const struct node_slices *s, unsigned owner)
{
    const struct slices slices = slices_of_block(s);
    return slices_begin(&slices, owner);
}

size_t node_slice_bytes(const struct node_slices *s, unsigned owner)
{
    return node_slice_begin(s, owner + 1) - node_slice_begin(s, owner);
}

/* The number of pieces is even: so the first piece of a start has another place
 * than the last one of the start before. No piece is empty for all owners. */
static unsigned pieces_for(const struct node_slices *s)
{
    const size_t each = AT_ONCE_ALL / s->node->count;
    const size_t most = each < AT_ONCE_LEAST  ? AT_ONCE_LEAST
                        : each > AT_ONCE_MOST ? AT_ONCE_MOST
                                              : each;
    const struct slices slices = slices_of_block(s);
    const size_t units = slices_most(&slices) / slices.unit;
    const size_t pairs = (s->node->args->bytes + 2 * most - 1) / (2 * most);
    size_t pieces = s->node->args->bytes <= most ? 1 : 2 * pairs;
    if (pieces > units)
        pieces = units > 1 ? units & ~(size_t)1 : 1;
    return (unsigned)(pieces < PIECES_MOST ? pieces : PIECES_MOST);
}

/* The range in the block of a piece of an owner's slice. */
struct piece {
    size_t begin, bytes;
};

static struct slices pieces_of(const struct node_slices *s, unsigned owner)
{
    dcoll_args_t args = *s->node->args;
    args.bytes = node_slice_bytes(s, owner);
    return slices_of(&args, s->pieces);
}

static struct piece piece_of(const struct node_slices *s, unsigned owner,
                             unsigned number)
{
    const struct slices all = pieces_of(s, owner);
    const size_t begin = slices_begin(&all, number);
    return (struct piece){node_slice_begin(s, owner) + begin,
                          slices_begin(&all, number + 1) - begin};
}

/* A slice has a place for each rank, also if it is empty. */
static unsigned owners_for(const struct node *node, unsigned most)
{
    const struct slices all = slices_of(node->args, most);
    const size_t units = slices_units(&all);
    return units >= most ? most : units ? (unsigned)units : 1;
}

struct node_slices node_slices_of(const struct node *node, unsigned most)
{
    struct node_slices s = {.node = node, .owners = owners_for(node, most)};
    s.pieces = pieces_for(&s);
    for (unsigned i = 0; i < s.owners; i++) {
        const struct slices pieces = pieces_of(&s, i);
        const size_t bytes = slices_most(&pieces);
        s.room = bytes > s.room ? bytes : s.room;
    }
    return s;
}

/* NODE: two places, used in turn. Each has a row for each owner, with the
 * operands of all ranks; an owner leaves its result in its own place. */
static dcoll_place_t place(const struct node_slices *s, unsigned number,
                           unsigned owner, unsigned from)
{
    const size_t row =
        (number % 2 * (size_t)s->owners + owner) * s->node->count;
    return dcoll_at(DCOLL_NODE, s->at + (row + from) * s->room);
}

size_t node_slices_bytes(const struct node_slices *s)
{
    const unsigned places = s->pieces > 1 ? 2 : 1;
    return places * (size_t)s->owners * s->node->count * s->room;
}

unsigned node_slices_flags(const struct node_slices *s)
{
    return NODE_ARRIVED + 2 * s->pieces;
}

static unsigned posted(unsigned number)
{
    return NODE_ARRIVED + 2 * number;
}

static unsigned combined(unsigned number)
{
    return posted(number) + 1;
}

static unsigned me(const struct node_slices *s)
{
    return s->node->rank - s->node->first;
}

/* Posts operands for all owners but me. */
static void post(const struct node_slices *s, unsigned number)
{
    const struct node *n = s->node;
    for (unsigned i = 1; i <= n->count; i++) {
        const unsigned owner = (me(s) + i) % n->count;
        if (owner >= s->owners || owner == me(s))
            continue;
        const struct piece piece = piece_of(s, owner, number);
        dcoll_add_copy(n->s, combine_at(combine_user(n->args), piece.begin),
                       place(s, number, owner, me(s)), piece.bytes);
    }
    node_signal(n, posted(number));
}

static bool is_root(const struct node_slices *s)
{
    return s->node->rank == s->node->args->root;
}

static bool gives(const struct node_slices *s)
{
    return s->to == SLICES_TO_ALL || (s->to == SLICES_TO_ROOT && !is_root(s));
}

static bool fetches(const struct node_slices *s)
{
    return s->to == SLICES_TO_ALL || (s->to == SLICES_TO_ROOT && is_root(s));
}

/* Combines into my own memory, and copies to NODE from there: a plain store to
 * NODE would invalidate each line that another rank has read, a copy need not
 * (coll/run/node/copy.h). */
static void combine(const struct node_slices *s, unsigned number)
{
    const struct node *n = s->node;
    const struct piece piece = piece_of(s, me(s), number);
    const dcoll_place_t scratch = dcoll_at(DCOLL_TEMP, s->temp);
    const dcoll_place_t result =
        gives(s) && !fetches(s) ? scratch : combine_at(s->result, piece.begin);
    const struct operands all = {
        .count = n->count,
        .own = me(s),
        .row = place(s, number, me(s), 0),
        .stride = s->room,
        .mine = combine_at(combine_user(n->args), piece.begin),
        .spare = scratch};
    combine_in_order(n->s, n->args, &all, result, piece.bytes);
    if (!gives(s))
        return;
    dcoll_add_copy(n->s, result, place(s, number, me(s), me(s)), piece.bytes);
    node_signal(n, combined(number));
}

static void fetch(const struct node_slices *s, unsigned number)
{
    const struct node *n = s->node;
    for (unsigned i = 1; i < n->count; i++) {
        const unsigned peer = node_peer(n, i), owner = peer - n->first;
        if (owner >= s->owners)
            continue;
        const struct piece piece = piece_of(s, owner, number);
        node_await(n, peer, combined(number), 0);
        const dcoll_place_t there = place(s, number, owner, owner);
        const dcoll_place_t here = combine_at(s->result, piece.begin);
        dcoll_add_copy(n->s, there, here, piece.bytes);
    }
}

void node_slices_reduce(const struct node_slices *s)
{
    for (unsigned i = 0; i < s->pieces; i++) {
        post(s, i);
        node_await_all(s->node, posted(i), 0);
        if (me(s) < s->owners)
            combine(s, i);
        if (fetches(s))
            fetch(s, i);
    }
}
