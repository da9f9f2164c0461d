/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter over a tree, the reverse of the gather: each rank receives the blocks
 * of its subtree and forwards those of its children's subtrees, far ones first.
 * Zero copy: from the root's SEND, in absolute order, and into leaves' RECV.
 * The root may run ahead of the others by the depth.
 */
#include "coll/build/flat.h"
#include "coll/build/exchange/over_tree.h"
#include "coll/build/exchange/relay.h"

static struct layout layout(const struct relay *relay, unsigned rank)
{
    if (!relay->args->zero_copy)
        return (struct layout){DCOLL_TEMP, false};
    if (rank == 0)
        return (struct layout){DCOLL_SEND, true};
    return (struct layout){relay_is_leaf(relay, rank) ? DCOLL_RECV : DCOLL_TEMP,
                           false};
}

/* At the root: copies SEND, in absolute order, to TEMP, in relative order. */
static void copy_in(const struct relay *relay)
{
    for (unsigned u = 1; u < relay->tree.n; u++)
        flat_copy(
            relay->s,
            dcoll_at(DCOLL_SEND,
                     dcoll_block_begin(relay->args, relay_absolute(relay, u))),
            relay_place(relay, 0, u), relay_bytes(relay, u, 1));
}

static void take_own(const struct relay *relay)
{
    const bool is_root = relay->rank == 0;
    const dcoll_place_t own =
        is_root
            ? dcoll_at(DCOLL_SEND, dcoll_block_begin(relay->args, relay->root))
            : relay_place(relay, relay->rank, relay->rank);
    if (own.space != DCOLL_RECV)
        dcoll_add_copy(relay->s, own, dcoll_at(DCOLL_RECV, 0),
                       relay_bytes(relay, relay->rank, 1));
}

void scatter_over_tree(const struct tree *tree, const dcoll_args_t *args,
                       unsigned rank, dcoll_schedule_t *s)
{
    const struct relay relay =
        relay_make(tree, args, args->root, rank, s, layout);
    const bool through_temp = layout(&relay, relay.rank).space == DCOLL_TEMP;
    s->phase = 1;
    relay_open_parent(&relay);
    if (through_temp) {
        s->temp_bytes =
            relay_bytes(&relay, relay.rank, relay_blocks(&relay, relay.rank));
        if (relay.rank == 0)
            copy_in(&relay);
    }
    relay_scatter(&relay);
    take_own(&relay);
    flat_complete(s);
    relay_close_parent(&relay);
}
