/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather over the binomial tree to rank 0, then broadcast of all blocks over
 * the same tree, single-port (Qian and Afsahi 2008, section 3.1: elan_gather's
 * all-gather up to 32 KB): a reference for the k-port algorithms. The board
 * of each rank is in absolute order, so blocks stay where they land. A rank
 * that has received the broadcast knows that all ranks have begun: no credit is
 * needed.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/exchange/relay.h"

static struct layout board(const struct relay *relay, unsigned rank)
{
    (void)rank;
    return (struct layout){board_space(relay->args), true};
}

static grant_t among_all(const struct relay *relay, dcoll_space_t target)
{
    return grant_among_all(relay->args, target);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct tree tree = {.n = shape->nranks, .k = 1};
    struct relay relay = relay_make(&tree, args, 0, rank, s, board);
    relay.grant = among_all;
    s->phase = 1;
    relay_open_children(&relay);
    relay_open_parent(&relay);
    board_begin(shape, args, rank, s);
    relay_gather(&relay);
    s->phase = 2;
    relay.first_step = tree_levels(&tree);
    relay_bcast(&relay, tree.n * args->bytes);
    board_end(shape, args, rank, s);
    flat_complete(s);
    relay_close_children(&relay);
    relay_close_parent(&relay);
}

const dcoll_algorithm_t allgather_gather_bcast = {
    .name = "gather-bcast",
    .collective = DCOLL_ALLGATHER,
    .summary =
        "single-port tree gather, then broadcast (Qian and Afsahi 2008, 3.1)",
    .memory = "TEMP: N blocks; zero copy: none",
    .generate = generate,
};
