/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/mman.h>
#include <unistd.h>

#include "coll/run/node/prefault.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MOST (1u << 20) /* bytes; longer copies outweigh their page faults */

static bool worth_it(const dcoll_request_t *q)
{
    return q->schedule.node_bytes && q->node.bytes <= MOST &&
           !platform_is_hollow(q->team->platform);
}

/* Before Linux 5.14 this does nothing: pages are populated when they are used.
 */
static void take(unsigned char *begin, unsigned char *end)
{
    uintptr_t in_page = (uintptr_t)begin & ((uintptr_t)getpagesize() - 1);
    if (begin < end)
        (void)madvise(begin - in_page, (size_t)(end - begin) + in_page,
                      MADV_POPULATE_WRITE);
}

/* Joins adjacent ranges. The writer populates them, so that they are on its
 * NUMA node. */
void prefault_node(const dcoll_request_t *q)
{
    unsigned char *begin = NULL, *end = NULL;
    size_t all = worth_it(q) ? q->args.depth * q->schedule.nops : 0;
    for (size_t i = 0; i < all; i++) {
        const dcoll_op_t *op = &q->schedule.ops[i % q->schedule.nops];
        if (op->dst.space != DCOLL_NODE ||
            (op->kind != DCOLL_COPY && op->kind != DCOLL_COMBINE))
            continue;
        unsigned char *to = q->base[DCOLL_NODE] + op->dst.offset +
                            i / q->schedule.nops * q->stride[DCOLL_NODE];
        if (to < begin || to > end) {
            take(begin, end);
            begin = end = to;
        }
        if (to + op->bytes > end)
            end = to + op->bytes;
    }
    take(begin, end);
}
