/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, shapes, and adding operations. */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/dapl_rail.h"
#include "coll/schedule.h"
#include "coll/build/irregular/deal.h"

static const char *const names[] = {
    [DCOLL_GATHER] = "gather",
    [DCOLL_ALLGATHER] = "allgather",
    [DCOLL_ALLTOALL] = "alltoall",
    [DCOLL_BCAST] = "bcast",
    [DCOLL_SCATTER] = "scatter",
    [DCOLL_BARRIER] = "barrier",
    [DCOLL_REDUCE] = "reduce",
    [DCOLL_ALLREDUCE] = "allreduce",
    [DCOLL_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
    [DCOLL_SCAN] = "scan",
    [DCOLL_EXSCAN] = "exscan",
    [DCOLL_ALLTOALLV] = "alltoallv",
};

const char *dcoll_collective_name(dcoll_collective_t collective)
{
    return collective <= DCOLL_ALLTOALLV ? names[collective] : NULL;
}

int dcoll_collective_parse(const char *text, dcoll_collective_t *collective)
{
    for (unsigned c = 0; c < DCOLL_COLLECTIVES; c++)
        if (!strcmp(names[c], text)) {
            *collective = (dcoll_collective_t)c;
            return 0;
        }
    return DRAIL_EINVAL;
}

const char *dcoll_kind_name(dcoll_kind_t kind)
{
    static const char *const kinds[] = {
        [DCOLL_PUT] = "PUT",           [DCOLL_GET] = "GET",
        [DCOLL_NOTIFY] = "NOTIFY",     [DCOLL_WAIT] = "WAIT",
        [DCOLL_COPY] = "COPY",         [DCOLL_COMBINE] = "COMBINE",
        [DCOLL_COMPLETE] = "COMPLETE", [DCOLL_SIGNAL] = "SIGNAL",
        [DCOLL_AWAIT] = "AWAIT",       [DCOLL_DISTRIBUTE] = "DISTRIBUTE",
        [DCOLL_COLLECT] = "COLLECT",   [DCOLL_DELIVER] = "DELIVER",
        [DCOLL_OFFER] = "OFFER",       [DCOLL_PACK] = "PACK",
        [DCOLL_EXPECT] = "EXPECT",     [DCOLL_PICK] = "PICK",
    };
    return kinds[kind];
}

const char *dcoll_tag_name(dcoll_tag_t tag)
{
    static const char *const tags[] = {[DCOLL_DATA] = "DATA",
                                       [DCOLL_READY] = "READY",
                                       [DCOLL_CREDIT] = "CREDIT"};
    return tags[tag];
}

const char *dcoll_space_name(dcoll_space_t space)
{
    static const char *const spaces[] = {[DCOLL_SEND] = "SEND",
                                         [DCOLL_RECV] = "RECV",
                                         [DCOLL_TEMP] = "TEMP",
                                         [DCOLL_NODE] = "NODE"};
    return spaces[space];
}

unsigned dcoll_shape_nodes(unsigned nranks, unsigned ppn, unsigned *node_begin)
{
    unsigned nodes = 0;
    for (unsigned first = 0; first < nranks; first += ppn)
        node_begin[nodes++] = first;
    node_begin[nodes] = nranks;
    return nodes;
}

unsigned dcoll_shape_node(const dcoll_shape_t *shape, unsigned rank)
{
    unsigned low = 0, high = shape->nnodes;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (shape->node_begin[middle] <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

unsigned dcoll_shape_locals(const dcoll_shape_t *shape, unsigned rank)
{
    unsigned node = dcoll_shape_node(shape, rank);
    return shape->node_begin[node + 1] - shape->node_begin[node];
}

unsigned dcoll_shape_ppn(const dcoll_shape_t *shape)
{
    unsigned most = 0;
    for (unsigned n = 0; n < shape->nnodes; n++) {
        unsigned ranks = shape->node_begin[n + 1] - shape->node_begin[n];
        most = ranks > most ? ranks : most;
    }
    return most;
}

unsigned dcoll_shape_least(const dcoll_shape_t *shape)
{
    unsigned least = shape->nranks;
    for (unsigned n = 0; n < shape->nnodes; n++) {
        unsigned ranks = shape->node_begin[n + 1] - shape->node_begin[n];
        least = ranks < least ? ranks : least;
    }
    return least;
}

void dcoll_schedule_free(dcoll_schedule_t *schedule)
{
    free(schedule->ops);
    free(schedule->deals);
    *schedule = (dcoll_schedule_t){0};
}

/* Makes room for one more element. False: out of memory. */
static bool grow(dcoll_schedule_t *s, void **array, unsigned count,
                 unsigned *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    unsigned more = *capacity ? 2 * *capacity : 16;
    void *grown = more ? realloc(*array, more * size) : NULL;
    if (!grown) {
        s->error = DRAIL_ENOMEM;
        return false;
    }
    *array = grown;
    *capacity = more;
    return true;
}

static void add(dcoll_schedule_t *s, dcoll_op_t op)
{
    if (!grow(s, (void **)&s->ops, s->nops, &s->capacity, sizeof op))
        return;
    op.phase = s->phase;
    op.step = s->step;
    s->ops[s->nops++] = op;
}

void dcoll_add_put(dcoll_schedule_t *s, unsigned peer, unsigned port,
                   dcoll_place_t src, dcoll_place_t dst, size_t bytes)
{
    add(s, (dcoll_op_t){.kind = DCOLL_PUT,
                        .peer = peer,
                        .port = port,
                        .src = src,
                        .dst = dst,
                        .bytes = bytes});
}

void dcoll_add_get(dcoll_schedule_t *s, unsigned peer, unsigned port,
                   dcoll_place_t src, dcoll_place_t dst, size_t bytes)
{
    if (bytes)
        add(s, (dcoll_op_t){.kind = DCOLL_GET,
                            .peer = peer,
                            .port = port,
                            .src = src,
                            .dst = dst,
                            .bytes = bytes});
}

void dcoll_add_notify(dcoll_schedule_t *s, unsigned peer, unsigned port,
                      dcoll_tag_t tag)
{
    add(s, (dcoll_op_t){
               .kind = DCOLL_NOTIFY, .peer = peer, .port = port, .tag = tag});
}

void dcoll_add_wait(dcoll_schedule_t *s, unsigned peer, dcoll_tag_t tag,
                    unsigned lag)
{
    add(s,
        (dcoll_op_t){.kind = DCOLL_WAIT, .peer = peer, .tag = tag, .lag = lag});
}

void dcoll_add_complete(dcoll_schedule_t *s)
{
    add(s, (dcoll_op_t){.kind = DCOLL_COMPLETE});
}

void dcoll_add_complete_first(dcoll_schedule_t *s, unsigned puts)
{
    add(s, (dcoll_op_t){.kind = DCOLL_COMPLETE, .puts = puts});
}

void dcoll_add_copy(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
                    size_t bytes)
{
    if (bytes)
        add(s, (dcoll_op_t){
                   .kind = DCOLL_COPY, .src = src, .dst = dst, .bytes = bytes});
}

void dcoll_add_combine(dcoll_schedule_t *s, dcoll_place_t src,
                       dcoll_place_t with, dcoll_place_t dst, size_t bytes)
{
    if (bytes)
        add(s, (dcoll_op_t){.kind = DCOLL_COMBINE,
                            .src = src,
                            .with = with,
                            .dst = dst,
                            .bytes = bytes});
}

void dcoll_add_signal(dcoll_schedule_t *s, unsigned flag, dcoll_place_t src,
                      size_t bytes)
{
    add(s, (dcoll_op_t){
               .kind = DCOLL_SIGNAL, .flag = flag, .src = src, .bytes = bytes});
}

void dcoll_add_await(dcoll_schedule_t *s, unsigned peer, unsigned flag,
                     unsigned lag, dcoll_place_t dst, size_t bytes)
{
    add(s, (dcoll_op_t){.kind = DCOLL_AWAIT,
                        .peer = peer,
                        .flag = flag,
                        .lag = lag,
                        .dst = dst,
                        .bytes = bytes});
}

/* Adds a deal, unless it equals the last one. False: out of memory. */
static bool keep_deal(dcoll_schedule_t *s, const dcoll_deal_t *deal)
{
    const dcoll_deal_t *last = s->ndeals ? &s->deals[s->ndeals - 1] : NULL;
    if (last && last->opens == deal->opens && deal_is_alike(last, deal))
        return true;
    if (!grow(s, (void **)&s->deals, s->ndeals, &s->deals_capacity,
              sizeof *deal))
        return false;
    s->deals[s->ndeals++] = *deal;
    return true;
}

void dcoll_add_deal(dcoll_schedule_t *s, dcoll_kind_t kind, dcoll_place_t src,
                    size_t room, dcoll_place_t dst, const dcoll_deal_t *deal)
{
    if (keep_deal(s, deal))
        add(s, (dcoll_op_t){.kind = kind,
                            .src = src,
                            .dst = dst,
                            .bytes = room,
                            .deal = s->ndeals - 1});
}

void dcoll_add_every(dcoll_schedule_t *s, uint8_t every)
{
    if (s->nops)
        s->ops[s->nops - 1].every = every;
}

void dcoll_add_sized(dcoll_schedule_t *s)
{
    if (s->nops)
        s->ops[s->nops - 1].sized = true;
}

void dcoll_add_offer(dcoll_schedule_t *s, dcoll_place_t dst, size_t room)
{
    add(s, (dcoll_op_t){.kind = DCOLL_OFFER, .dst = dst, .bytes = room});
}

void dcoll_add_pack(dcoll_schedule_t *s, unsigned peer, dcoll_place_t src,
                    const dcoll_deal_t *tables, dcoll_place_t dst, size_t room)
{
    if (keep_deal(s, tables))
        add(s, (dcoll_op_t){.kind = DCOLL_PACK,
                            .peer = peer,
                            .src = src,
                            .dst = dst,
                            .bytes = room,
                            .deal = s->ndeals - 1});
}

void dcoll_add_expect(dcoll_schedule_t *s, unsigned me, dcoll_place_t src,
                      const dcoll_deal_t *tables)
{
    if (keep_deal(s, tables))
        add(s, (dcoll_op_t){.kind = DCOLL_EXPECT,
                            .peer = me,
                            .src = src,
                            .deal = s->ndeals - 1});
}

void dcoll_add_expect_counts(dcoll_schedule_t *s, unsigned me)
{
    add(s,
        (dcoll_op_t){.kind = DCOLL_EXPECT, .peer = me, .src = {DCOLL_RECV, 0}});
}

void dcoll_add_expect_bundle(dcoll_schedule_t *s, unsigned peer,
                             dcoll_place_t src, size_t room)
{
    add(s, (dcoll_op_t){
               .kind = DCOLL_EXPECT, .peer = peer, .src = src, .bytes = room});
}

void dcoll_add_pick(dcoll_schedule_t *s, unsigned peer, dcoll_place_t src,
                    size_t room)
{
    add(s, (dcoll_op_t){.kind = DCOLL_PICK,
                        .peer = peer,
                        .src = src,
                        .dst = dcoll_at(DCOLL_RECV, 0),
                        .bytes = room});
}

void dcoll_add_await_offered(dcoll_schedule_t *s, unsigned peer, unsigned flag)
{
    add(s, (dcoll_op_t){.kind = DCOLL_AWAIT,
                        .peer = peer,
                        .flag = flag,
                        .dst = dcoll_at(DCOLL_RECV, 0),
                        .offered = true});
}
