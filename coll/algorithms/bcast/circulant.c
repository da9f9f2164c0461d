/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast of long blocks in pieces over all ranks
 * (build/exchange/circulant_bcast.h). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/circulant_bcast.h"
#include "coll/build/flat.h"

static unsigned rank_of(const struct circulant_bcast *b, unsigned member)
{
    return flat_after(b->shape->nranks, member, b->args->root);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const bool copies = !args->zero_copy, root = rank == args->root;
    const dcoll_place_t board = dcoll_at(board_space(args), 0);
    struct circulant_bcast b = {
        .shape = shape,
        .args = args,
        .s = s,
        .rank_of = rank_of,
        .me = flat_before(shape->nranks, rank, args->root),
        .from = copies || !root ? board : dcoll_at(DCOLL_SEND, 0),
        .to = board,
        .grant = grant_along_tree(board.space)};
    if (shape->nranks == 1)
        return;
    circulant_bcast_plan(&b, shape->nranks);
    s->phase = 1;
    s->temp_bytes = copies ? args->bytes : 0;
    circulant_bcast_grant(&b, grant_open);
    if (copies && root)
        dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), board, args->bytes);
    circulant_bcast_run(&b);
    if (copies && !root)
        dcoll_add_copy(s, board, dcoll_at(DCOLL_RECV, 0), args->bytes);
    flat_complete(s);
    circulant_bcast_grant(&b, grant_close);
}

const dcoll_algorithm_t bcast_circulant = {
    .name = "circulant",
    .collective = DCOLL_BCAST,
    .summary = "n pieces on a circulant graph, striped over ports (Träff 2025)",
    .memory = "TEMP: 1 block; zero copy: none",
    .generate = generate,
};
