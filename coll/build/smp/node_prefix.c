/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/grant.h"
#include "coll/build/smp/node.h"
#include "coll/build/smp/node_prefix.h"

/* The blocks of the ranks before me and, in a scan, mine. In an exscan `mine`
 * is the first of them: struct operands must have one. */
static struct operands operands_of(const struct node *node, bool exclusive)
{
    struct operands all = node_row(node, 0, 0);
    all.count = all.own + !exclusive;
    if (exclusive) {
        all.own = 0;
        all.mine = all.row;
    }
    if (!node_fits_line(node->args->bytes)) /* else my place is in TEMP */
        all.spare = dcoll_at(DCOLL_TEMP, 0);
    return all;
}

static void await_earlier(const struct node *node)
{
    const size_t bytes = node->args->bytes;
    const struct operands row = node_row(node, 0, 0);
    for (unsigned i = 0; i < row.own; i++)
        dcoll_add_await(node->s, node->first + i, NODE_POSTED, 0,
                        combine_at(row.row, i * row.stride),
                        node_fits_line(bytes) ? bytes : 0);
}

void node_prefix_generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                          unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const bool exclusive = args->collective == DCOLL_EXSCAN;
    const struct operands all = operands_of(&node, exclusive);
    const unsigned last = node.first + node.count - 1;
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = node_row_bytes(&node);
    s->temp_bytes = node_fits_line(args->bytes) ? node_row_temp(&node)
                                                : combine_stride(args->bytes);
    for (unsigned r = rank + 1; r <= last; r++) {
        node_await(&node, r, NODE_DONE, args->depth);
        grant_in_bulk(s, args);
    }
    if (rank < last)
        node_post(&node, dcoll_at(DCOLL_SEND, 0), node_row_own(&node),
                  args->bytes);
    await_earlier(&node);
    if (all.count)
        combine_in_order(s, args, &all, dcoll_at(DCOLL_RECV, 0), args->bytes);
    if (rank > node.first) {
        node_signal(&node, NODE_DONE);
        grant_in_bulk(s, args);
    }
}
