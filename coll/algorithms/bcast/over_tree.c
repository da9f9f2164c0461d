/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast over a tree: each rank puts the block to its children, far ones
 * first. Without zero copy, from TEMP to TEMP; copying out overlaps with the
 * transfers. The root may run ahead of the others by the depth.
 */
#include "coll/build/flat.h"
#include "coll/build/exchange/over_tree.h"
#include "coll/build/exchange/relay.h"

static struct layout layout(const struct relay *relay, unsigned rank)
{
    if (!relay->args->zero_copy)
        return (struct layout){DCOLL_TEMP, false};
    return (struct layout){rank == 0 ? DCOLL_SEND : DCOLL_RECV, false};
}

void bcast_over_tree(const struct tree *tree, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct relay relay =
        relay_make(tree, args, args->root, rank, s, layout);
    const dcoll_place_t temp = dcoll_at(DCOLL_TEMP, 0);
    const bool copies = !args->zero_copy && tree->n > 1;
    s->phase = 1;
    s->temp_bytes = copies ? args->bytes : 0;
    relay_open_parent(&relay);
    if (copies && relay.rank == 0)
        dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), temp, args->bytes);
    relay_bcast(&relay, args->bytes);
    if (copies && relay.rank > 0)
        dcoll_add_copy(s, temp, dcoll_at(DCOLL_RECV, 0), args->bytes);
    flat_complete(s);
    relay_close_parent(&relay);
}
