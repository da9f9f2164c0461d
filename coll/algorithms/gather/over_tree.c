/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather over a tree: each rank puts the blocks of its subtree to its parent
 * when they are complete. Blocks gather in TEMP in the order of relative ranks.
 * Zero copy: leaves put from SEND, and into the root's RECV, in absolute order.
 * Leaves may run ahead of the root by the depth.
 */
#include "coll/build/flat.h"
#include "coll/build/exchange/over_tree.h"
#include "coll/build/exchange/relay.h"

static struct layout layout(const struct relay *relay, unsigned rank)
{
    if (!relay->args->zero_copy)
        return (struct layout){DCOLL_TEMP, false};
    if (rank == 0)
        return (struct layout){DCOLL_RECV, true};
    return (struct layout){relay_is_leaf(relay, rank) ? DCOLL_SEND : DCOLL_TEMP,
                           false};
}

/* Copies my own block to the others; without zero copy, the root's stays in
 * SEND. */
static void place_own(const struct relay *relay)
{
    const bool is_root = relay->rank == 0;
    const dcoll_place_t own =
        is_root
            ? dcoll_at(DCOLL_RECV, dcoll_block_begin(relay->args, relay->root))
            : relay_place(relay, relay->rank, relay->rank);
    if (own.space != DCOLL_SEND)
        dcoll_add_copy(relay->s, dcoll_at(DCOLL_SEND, 0), own,
                       relay_bytes(relay, relay->rank, 1));
}

/* At the root: copies TEMP, in relative order, to RECV, in absolute order. */
static void copy_out(const struct relay *relay)
{
    for (unsigned u = 1; u < relay->tree.n; u++)
        flat_copy(
            relay->s, relay_place(relay, 0, u),
            dcoll_at(DCOLL_RECV,
                     dcoll_block_begin(relay->args, relay_absolute(relay, u))),
            relay_bytes(relay, u, 1));
}

void gather_over_tree(const struct tree *tree, const dcoll_args_t *args,
                      unsigned rank, dcoll_schedule_t *s)
{
    const struct relay relay =
        relay_make(tree, args, args->root, rank, s, layout);
    const bool through_temp = layout(&relay, relay.rank).space == DCOLL_TEMP;
    s->phase = 1;
    relay_open_children(&relay);
    place_own(&relay);
    relay_gather(&relay);
    if (through_temp) {
        s->temp_bytes =
            relay_bytes(&relay, relay.rank, relay_blocks(&relay, relay.rank));
        if (relay.rank == 0)
            copy_out(&relay);
    }
    flat_complete(s);
    relay_close_children(&relay);
}
