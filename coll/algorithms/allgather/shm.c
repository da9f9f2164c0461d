/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather within a node: each rank posts its block and fetches all others
 * (Qian and Afsahi 2008, section 4.1; Qian et al. 2008, section 5.2, phase 1),
 * long blocks piece by piece.
 *
 * A rank that has seen all posts of a start knows that all ranks have finished
 * the start before. So with depth 2 nothing is overwritten while it is read;
 * with depth 1 each rank must signal that it has read.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

/* A block of less than two pieces is posted at once. */
#define PIECE_BYTES (256u << 10)

static void post_and_keep(const struct node *node, const struct slices *pieces,
                          unsigned piece)
{
    const size_t own = node->rank * node->args->bytes;
    node_copy_slice(node, pieces, piece, node_own(node),
                    dcoll_at(DCOLL_NODE, node_block_place(node, node->rank)));
    node_signal(node, NODE_ARRIVED + piece);
    if (!node->args->in_place)
        node_copy_slice(node, pieces, piece, dcoll_at(DCOLL_SEND, 0),
                        dcoll_at(DCOLL_RECV, own));
}

static void fetch(const struct node *node, const struct slices *pieces,
                  unsigned piece)
{
    for (unsigned i = 1; i < node->count; i++) {
        const unsigned peer = node_peer(node, i);
        node_await(node, peer, NODE_ARRIVED + piece, 0);
        node_copy_slice(node, pieces, piece,
                        dcoll_at(DCOLL_NODE, node_block_place(node, peer)),
                        dcoll_at(DCOLL_RECV, peer * node->args->bytes));
    }
}

/* A piece is fetched while it is still in a cache of its writer. */
static void exchange_pieces(const struct node *node,
                            const struct slices *pieces)
{
    node->s->flags = NODE_ARRIVED + pieces->count;
    for (unsigned i = 0; i < pieces->count; i++) {
        post_and_keep(node, pieces, i);
        if (i)
            fetch(node, pieces, i - 1);
    }
    fetch(node, pieces, pieces->count - 1);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const struct slices pieces = node_pieces_of(args, PIECE_BYTES);
    s->phase = 1;
    s->crossing = node.count == 2;
    s->flags = args->depth == 1 ? NODE_DONE + 1 : NODE_POSTED + 1;
    s->node_bytes = node_block_place(&node, node.count);
    node_enter(&node);
    if (pieces.count > 1 && node.count > 1) {
        exchange_pieces(&node, &pieces);
        node_leave(&node);
        return;
    }
    node_post(&node, node_own(&node), node_block_place(&node, rank),
              dcoll_block_bytes(args, rank));
    node_keep_own(&node);
    for (unsigned i = 1; i < node.count; i++) {
        const unsigned peer = node_peer(&node, i);
        node_fetch(&node, peer, node_block_place(&node, peer),
                   dcoll_at(DCOLL_RECV, dcoll_block_begin(args, peer)),
                   dcoll_block_bytes(args, peer));
    }
    node_leave(&node);
}

const dcoll_algorithm_t allgather_shm = {
    .name = "shm-allgather",
    .collective = DCOLL_ALLGATHER,
    .summary = "each posts its block in shared memory and reads the others'",
    .memory = "NODE: N blocks of more than 56 bytes, in whole cache lines",
    .node_blocks = 2,
    .unequal = true,
    .refuses = node_refuses_several,
    .generate = generate,
};
