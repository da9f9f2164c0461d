/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast of long blocks: the root scatters slices along the (k+1)-nomial
 * tree. Bruck's all-gather follows, in which the root only sends. That takes 2
 * ⌈log_{k+1} N⌉ steps and, for powers of k+1, 2 (N-1)/(Nk) blocks. (Van de
 * Geijn's scheme, with the papers' k-port tree and all-gather.) Ranks may run
 * ahead of others, so each put is granted.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/cyclic.h"
#include "coll/build/flat.h"

/* The root puts from SEND, all others from where slices arrive. */
static dcoll_place_t vector_of(const dcoll_args_t *args, unsigned rank)
{
    const bool sends = args->zero_copy && rank == args->root;
    return dcoll_at(sends ? DCOLL_SEND : board_space(args), 0);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    const struct tree tree = {.n = n, .k = shape->ports};
    const bool root = rank == args->root, copies = !args->zero_copy && n > 1;
    const struct cyclic c = {.args = args,
                             .s = s,
                             .ports = shape->ports,
                             .first = args->root,
                             .me = flat_before(n, rank, args->root),
                             .slices = slices_of(args, n),
                             .vector = vector_of(args, rank),
                             .there = dcoll_at(board_space(args), 0),
                             .grant = grant_along_tree(board_space(args)),
                             .tree = &tree};
    s->phase = 1;
    s->temp_bytes = copies ? args->bytes : 0;
    cyclic_open(&c);
    if (copies && root)
        dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), c.vector, args->bytes);
    cyclic_scatter(&c);
    s->phase = 2;
    cyclic_allgather(&c);
    if (copies && !root)
        dcoll_add_copy(s, c.vector, dcoll_at(DCOLL_RECV, 0), args->bytes);
    flat_complete(s);
    cyclic_close(&c);
}

const dcoll_algorithm_t bcast_scatter_allgather = {
    .name = "scatter-allgather",
    .collective = DCOLL_BCAST,
    .summary = "slices along the k-port tree, then Bruck's all-gather",
    .memory = "TEMP: 1 block; zero copy: none",
    .generate = generate,
};
