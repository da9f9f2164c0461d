/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/smp/node.h"

#define PIECE       (16u << 10)
#define PIECES_MOST 16u

struct node node_make(const dcoll_shape_t *shape, const dcoll_args_t *args,
                      unsigned rank, dcoll_schedule_t *s)
{
    const unsigned index = dcoll_shape_node(shape, rank);
    return (struct node){.shape = shape,
                         .args = args,
                         .s = s,
                         .rank = rank,
                         .index = index,
                         .first = shape->node_begin[index],
                         .count = dcoll_shape_locals(shape, rank)};
}

unsigned node_peer(const struct node *node, unsigned distance)
{
    return node->first + (node->rank - node->first + distance) % node->count;
}

const char *node_refuses_several(const dcoll_shape_t *shape,
                                 const dcoll_args_t *args)
{
    (void)args;
    return shape->nnodes > 1 ? "it works within one node only" : NULL;
}

bool node_fits_line(size_t bytes)
{
    return bytes <= DCOLL_LINE_BYTES;
}

size_t node_stride(size_t bytes)
{
    return node_fits_line(bytes) ? 0 : combine_stride(bytes);
}

size_t node_block_at(const dcoll_args_t *args, unsigned rank)
{
    return args->begin ? (args->begin[rank] / DCOLL_CACHE_LINE + rank) *
                             DCOLL_CACHE_LINE
                       : rank * combine_stride(args->bytes);
}

size_t node_block_place(const struct node *node, unsigned rank)
{
    return node_fits_line(node->args->bytes) ? 0
                                             : node_block_at(node->args, rank);
}

static bool is_there(dcoll_place_t place, size_t offset)
{
    return place.space == DCOLL_NODE && place.offset == offset;
}

void node_post(const struct node *node, dcoll_place_t src, size_t offset,
               size_t bytes)
{
    const bool in_line = node_fits_line(bytes);
    if (node->count == 1)
        return;
    if (!in_line && !is_there(src, offset))
        dcoll_add_copy(node->s, src, dcoll_at(DCOLL_NODE, offset), bytes);
    dcoll_add_signal(node->s, NODE_POSTED, src, in_line ? bytes : 0);
}

void node_fetch(const struct node *node, unsigned peer, size_t offset,
                dcoll_place_t dst, size_t bytes)
{
    const bool in_line = node_fits_line(bytes);
    dcoll_add_await(node->s, peer, NODE_POSTED, 0, dst, in_line ? bytes : 0);
    if (!in_line && !is_there(dst, offset))
        dcoll_add_copy(node->s, dcoll_at(DCOLL_NODE, offset), dst, bytes);
}

void node_copy_slice(const struct node *node, const struct slices *slices,
                     unsigned slice, dcoll_place_t src, dcoll_place_t dst)
{
    const size_t begin = slices_begin(slices, slice);
    dcoll_add_copy(node->s, combine_at(src, begin), combine_at(dst, begin),
                   slices_begin(slices, slice + 1) - begin);
}

struct slices node_pieces_of(const dcoll_args_t *args, size_t bytes)
{
    const size_t count = args->begin ? 1 : args->bytes / bytes;
    return slices_of(args, count < 1             ? 1
                           : count < PIECES_MOST ? (unsigned)count
                                                 : PIECES_MOST);
}

struct slices node_pieces(const dcoll_args_t *args)
{
    return node_pieces_of(args, PIECE);
}

unsigned node_pieces_flags(const dcoll_args_t *args)
{
    const unsigned count = node_pieces(args).count;
    return count > 1 ? NODE_ARRIVED + count : NODE_DONE + 1;
}

void node_post_pieces(const struct node *node, dcoll_place_t src, size_t offset)
{
    const struct slices pieces = node_pieces(node->args);
    if (pieces.count == 1) {
        node_post(node, src, offset, dcoll_block_bytes(node->args, node->rank));
        return;
    }
    for (unsigned i = 0; node->count > 1 && i < pieces.count; i++) {
        node_copy_slice(node, &pieces, i, src, dcoll_at(DCOLL_NODE, offset));
        node_signal(node, NODE_ARRIVED + i);
    }
}

void node_fetch_pieces(const struct node *node, unsigned peer, size_t offset,
                       dcoll_place_t dst)
{
    const struct slices pieces = node_pieces(node->args);
    if (pieces.count == 1) {
        node_fetch(node, peer, offset, dst,
                   dcoll_block_bytes(node->args, peer));
        return;
    }
    for (unsigned i = 0; i < pieces.count; i++) {
        node_await(node, peer, NODE_ARRIVED + i, 0);
        node_copy_slice(node, &pieces, i, dcoll_at(DCOLL_NODE, offset), dst);
    }
}

static size_t dealt(const struct node *node)
{
    return dcoll_block_begin(node->args, node->shape->nranks);
}

/* Blocks of different sizes go through NODE: an empty one at the begin of the
 * line is no part of it that a rank could await. */
static bool deals_in_line(const struct node *node)
{
    return !node->args->begin && node_fits_line(dealt(node));
}

void node_deal(const struct node *node, dcoll_space_t src, size_t offset)
{
    const size_t all = dealt(node);
    const size_t own = dcoll_block_begin(node->args, node->rank);
    const size_t behind = dcoll_block_begin(node->args, node->rank + 1);
    const bool in_line = deals_in_line(node);
    if (node->count == 1)
        return;
    if (!in_line) {
        dcoll_add_copy(node->s, dcoll_at(src, 0), dcoll_at(DCOLL_NODE, offset),
                       own);
        dcoll_add_copy(node->s, dcoll_at(src, behind),
                       dcoll_at(DCOLL_NODE, offset + behind), all - behind);
    }
    dcoll_add_signal(node->s, NODE_POSTED, dcoll_at(src, 0), in_line ? all : 0);
}

void node_pick(const struct node *node, unsigned peer, size_t offset,
               size_t temp, dcoll_place_t dst)
{
    const size_t bytes = dcoll_block_bytes(node->args, node->rank);
    const size_t at = dcoll_block_begin(node->args, node->rank);
    const bool in_line = deals_in_line(node);
    /* the last cache line only up to the end of my block */
    dcoll_add_await(node->s, peer, NODE_POSTED, 0, dcoll_at(DCOLL_TEMP, temp),
                    in_line ? at + bytes : 0);
    dcoll_add_copy(node->s,
                   in_line ? dcoll_at(DCOLL_TEMP, temp + at)
                           : dcoll_at(DCOLL_NODE, offset + at),
                   dst, bytes);
}

size_t node_deal_temp(const struct node *node)
{
    return deals_in_line(node) ? DCOLL_CACHE_LINE : 0;
}

size_t node_deal_bytes(const struct node *node)
{
    return deals_in_line(node) ? 0 : combine_stride(dealt(node));
}

static dcoll_place_t row_of(const struct node *node, size_t temp)
{
    return node_fits_line(node->args->bytes) ? dcoll_at(DCOLL_TEMP, temp)
                                             : dcoll_at(DCOLL_NODE, 0);
}

struct operands node_row(const struct node *node, size_t temp, size_t at)
{
    const dcoll_place_t row = combine_at(row_of(node, temp), at);
    const size_t stride = combine_stride(node->args->bytes);
    const unsigned own = node->rank - node->first;
    return (struct operands){.count = node->count,
                             .own = own,
                             .row = row,
                             .stride = stride,
                             .mine = combine_at(combine_user(node->args), at),
                             .spare = combine_at(row, own * stride)};
}

struct operands node_operands(const struct node *node, size_t temp)
{
    const size_t bytes = node->args->bytes;
    const bool in_line = node_fits_line(bytes);
    const struct operands all = node_row(node, temp, 0);
    for (unsigned i = 1; i < node->count; i++) {
        const unsigned peer = node_peer(node, i);
        dcoll_add_await(node->s, peer, NODE_POSTED, 0,
                        combine_at(all.row, (peer - node->first) * all.stride),
                        in_line ? bytes : 0);
    }
    return all;
}

size_t node_row_temp(const struct node *node)
{
    const size_t bytes = node->args->bytes;
    return node->count > 1 && node_fits_line(bytes)
               ? node->count * combine_stride(bytes)
               : 0;
}

size_t node_row_own(const struct node *node)
{
    return (node->rank - node->first) * node_stride(node->args->bytes);
}

size_t node_row_bytes(const struct node *node)
{
    return node->count * node_stride(node->args->bytes);
}

void node_signal(const struct node *node, unsigned flag)
{
    dcoll_add_signal(node->s, flag, dcoll_at(DCOLL_SEND, 0), 0);
}

void node_await(const struct node *node, unsigned peer, unsigned flag,
                unsigned lag)
{
    dcoll_add_await(node->s, peer, flag, lag, dcoll_at(DCOLL_RECV, 0), 0);
}

void node_await_all(const struct node *node, unsigned flag, unsigned lag)
{
    for (unsigned i = 1; i < node->count; i++)
        node_await(node, node_peer(node, i), flag, lag);
}

dcoll_place_t node_own(const struct node *node)
{
    if (node->args->in_place)
        return dcoll_at(DCOLL_RECV, dcoll_block_begin(node->args, node->rank));
    return dcoll_at(DCOLL_SEND, 0);
}

void node_keep_own(const struct node *node)
{
    const dcoll_args_t *args = node->args;
    if (!args->in_place)
        dcoll_add_copy(
            node->s, dcoll_at(DCOLL_SEND, 0),
            dcoll_at(DCOLL_RECV, dcoll_block_begin(args, node->rank)),
            dcoll_block_bytes(args, node->rank));
}

void node_fetch_others(const struct node *node, size_t base, size_t stride)
{
    const size_t bytes = node->args->bytes;
    for (unsigned i = 1; i < node->count; i++) {
        const unsigned peer = node_peer(node, i);
        node_fetch(node, peer, base + (peer - node->first) * stride,
                   dcoll_at(DCOLL_RECV, peer * bytes), bytes);
    }
}

static void copy_ranks(const struct node *node, unsigned begin, unsigned end)
{
    const size_t bytes = node->args->bytes, offset = begin * bytes;
    dcoll_add_copy(node->s, dcoll_at(DCOLL_NODE, offset),
                   dcoll_at(DCOLL_RECV, offset), (end - begin) * bytes);
}

void node_copy_out(const struct node *node, unsigned begin, unsigned end)
{
    const unsigned own = node->rank;
    if (own < begin || own >= end) {
        copy_ranks(node, begin, end);
        return;
    }
    copy_ranks(node, begin, own);
    copy_ranks(node, own + 1, end);
}

void node_copy_out_all(const struct node *node, unsigned begin, unsigned end)
{
    if (node->args->in_place)
        node_copy_out(node, begin, end);
    else
        copy_ranks(node, begin, end);
}

void node_enter(const struct node *node)
{
    if (node->args->depth == 1)
        node_await_all(node, NODE_DONE, 1);
}

void node_leave(const struct node *node)
{
    if (node->args->depth == 1)
        node_signal(node, NODE_DONE);
}
