/* SPDX-License-Identifier: BSD-3-Clause */
#include "node_slices.h"

/* Bytes of a chunk: so many that it takes longer than to wait for all others,
 * and, of all ranks, what caches may hold of it. */
#define CHUNK_LEAST (256u << 10)
#define CHUNK_MOST  (1u << 20)
#define CHUNKS_MOST (2u << 20)

/* One part of the block, all ranks' of which are in NODE at a time. */
struct chunk {
    const struct node *node;
    unsigned number;
    size_t begin, bytes; /* in the block */
    size_t at;           /* in NODE: that of the node's first rank */
};

/* The block is divided evenly, in an even number: the first one of a start has
 * another place than the last one of the start before. */
static struct slices chunks_of(const struct node *node)
{
    const size_t each = CHUNKS_MOST / node->count;
    const size_t most = each < CHUNK_LEAST  ? CHUNK_LEAST
                        : each > CHUNK_MOST ? CHUNK_MOST
                                            : each;
    const size_t pairs = (node->args->bytes + 2 * most - 1) / (2 * most);
    const bool one = node->args->bytes <= most;
    return slices_of(node->args, one ? 1 : 2 * (unsigned)pairs);
}

/* From one rank's part of a chunk to the next. */
static size_t stride_of(const struct node *node)
{
    const struct slices chunks = chunks_of(node);
    return slices_most(&chunks);
}

/* Two places are used in turn. */
static struct chunk chunk_of(const struct node *node, size_t at,
                             unsigned number)
{
    const struct slices chunks = chunks_of(node);
    const size_t begin = slices_begin(&chunks, number);
    return (struct chunk){.node = node,
                          .number = number,
                          .begin = begin,
                          .bytes = slices_begin(&chunks, number + 1) - begin,
                          .at =
                              at + number % 2 * node->count * stride_of(node)};
}

size_t node_slices_bytes(const struct node *node)
{
    const unsigned places = chunks_of(node).count > 1 ? 2 : 1;
    return places * node->count * stride_of(node);
}

unsigned node_slices_flags(const struct node *node)
{
    return NODE_ARRIVED + 2 * chunks_of(node).count;
}

static unsigned posted(const struct chunk *c)
{
    return NODE_ARRIVED + 2 * c->number;
}

static unsigned combined(const struct chunk *c)
{
    return posted(c) + 1;
}

/* A rank's slice: where it begins in the chunk. */
static size_t begin_of(const struct chunk *c, unsigned rank)
{
    dcoll_args_t args = *c->node->args;
    args.bytes = c->bytes;
    const struct slices s = slices_of(&args, c->node->count);
    return slices_begin(&s, rank - c->node->first);
}

static size_t bytes_of(const struct chunk *c, unsigned rank)
{
    return begin_of(c, rank + 1) - begin_of(c, rank);
}

/* A rank's part of it in NODE. Its own slice is not needed there: that is where
 * the result goes. */
static dcoll_place_t part(const struct chunk *c, unsigned rank)
{
    return dcoll_at(DCOLL_NODE,
                    c->at + (rank - c->node->first) * stride_of(c->node));
}

static dcoll_place_t slice(const struct chunk *c, unsigned rank)
{
    return combine_at(part(c, rank), begin_of(c, rank));
}

static dcoll_place_t user_of(const struct chunk *c)
{
    return combine_at(combine_user(c->node->args), c->begin);
}

/* What others combine. */
static void post(const struct chunk *c)
{
    const struct node *n = c->node;
    const size_t begin = begin_of(c, n->rank), end = begin_of(c, n->rank + 1);
    const dcoll_place_t user = user_of(c), mine = part(c, n->rank);
    dcoll_add_copy(n->s, user, mine, begin);
    dcoll_add_copy(n->s, combine_at(user, end), combine_at(mine, end),
                   c->bytes - end);
    node_signal(n, posted(c));
}

/* To memory of my own, and from there to NODE, where who writes has to ask for
 * each line that another has read, unless he copies (coll/run/away.h). */
static void combine(const struct chunk *c, const struct node_slices *s)
{
    const struct node *n = c->node;
    const size_t begin = begin_of(c, n->rank), bytes = bytes_of(c, n->rank);
    const dcoll_place_t scratch = dcoll_at(DCOLL_TEMP, s->temp);
    const dcoll_place_t result =
        s->fetches ? combine_at(s->dst, c->begin + begin) : scratch;
    const struct operands all = {.count = n->count,
                                 .own = n->rank - n->first,
                                 .row = combine_at(part(c, n->first), begin),
                                 .stride = stride_of(n),
                                 .mine = combine_at(user_of(c), begin),
                                 .spare = scratch};
    node_await_all(n, posted(c), 0);
    combine_in_order(n->s, n->args, &all, result, bytes);
    if (s->shared)
        dcoll_add_copy(n->s, result, slice(c, n->rank), bytes);
    node_signal(n, combined(c));
}

static void fetch(const struct chunk *c, dcoll_place_t dst)
{
    const struct node *n = c->node;
    for (unsigned i = 1; i < n->count; i++) {
        const unsigned peer = node_peer(n, i);
        node_await(n, peer, combined(c), 0);
        dcoll_add_copy(n->s, slice(c, peer),
                       combine_at(dst, c->begin + begin_of(c, peer)),
                       bytes_of(c, peer));
    }
}

size_t node_slices_temp(const struct node *node)
{
    return stride_of(node);
}

void node_slices_reduce(const struct node *node, const struct node_slices *s)
{
    const unsigned count = chunks_of(node).count;
    for (unsigned i = 0; i < count; i++) {
        const struct chunk c = chunk_of(node, s->at, i);
        post(&c);
        combine(&c, s);
        if (s->fetches)
            fetch(&c, s->dst);
    }
}

void node_slices_allreduce(const struct node *node)
{
    node->s->phase = 1;
    if (node->count == 1) {
        combine_keep_own(node->s, node->args);
        return;
    }
    node->s->flags = node_slices_flags(node);
    node->s->node_bytes = node_slices_bytes(node);
    node->s->temp_bytes = node_slices_temp(node);
    node_slices_reduce(node,
                       &(struct node_slices){.shared = true,
                                             .fetches = true,
                                             .dst = dcoll_at(DCOLL_RECV, 0)});
}
