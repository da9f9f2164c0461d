/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all within a node, not from the papers: each rank says in
 * shared memory what it has for whom. Small parts lie beside that, and are
 * copied from there; large ones are read where they are, to where they belong.
 * So nobody needs to know any count before, and ranks wait for each other once;
 * who has large parts, once more.
 *
 * Who has posted start s + 1 has read all of start s: a table can be written
 * again two starts later.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/node.h"
#include "coll/build/offer.h"

/* Of a rank, for elements: all ranks together have some megabytes. */
#define ROOM_OF_ALL ((size_t)4 << 20)
#define ROOM_LEAST  ((size_t)8 << 10)
#define ROOM_MOST   ((size_t)256 << 10)

static const char *refuses(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    if (!args->traffic)
        return "it is for calls with counts";
    if (!args->traffic->labelled && !args->traffic->max_rank)
        return "elements without counts need bounds";
    return node_refuses_several(shape, args);
}

static size_t bounded(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Elements that have no counts have no order in SEND: all go to NODE. */
static size_t room_of(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    const dcoll_traffic_t *t = args->traffic;
    size_t table =
        sizeof(struct offer_head) + shape->nranks * sizeof(struct offer);
    size_t elements = t->labelled ? bounded(ROOM_OF_ALL / shape->nranks,
                                            ROOM_LEAST, ROOM_MOST)
                                  : t->max_rank * t->element;
    return (table + elements + DCOLL_CACHE_LINE - 1) / DCOLL_CACHE_LINE *
           DCOLL_CACHE_LINE;
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const size_t room = room_of(shape, args);
    const dcoll_deal_t tables = {.fan = node.count, .stride = room};
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = node.count * room;
    s->shared = args->traffic->labelled;
    dcoll_add_offer(s, dcoll_at(DCOLL_NODE, rank * room), room);
    node_signal(&node, NODE_POSTED);
    node_await_all(&node, NODE_POSTED, 0);
    dcoll_add_expect(s, dcoll_at(DCOLL_NODE, 0), &tables);
    for (unsigned i = 0; i < node.count; i++) {
        unsigned peer = node_peer(&node, i);
        dcoll_add_pick(s, peer, dcoll_at(DCOLL_NODE, peer * room));
    }
    dcoll_add_complete(s);
    if (!s->shared)
        return;
    node_signal(&node, NODE_DONE);
    for (unsigned i = 1; i < node.count; i++)
        dcoll_add_await_offered(s, node_peer(&node, i), NODE_DONE);
}

const dcoll_algorithm_t alltoallv_shm = {
    .name = "shm-alltoallv",
    .collective = DCOLL_ALLTOALLV,
    .summary = "each says in shared memory what it has, and reads what is for "
               "it, large parts where they are",
    .memory = "NODE: N parts of 8 to 256 KiB, 4 MiB in all; elements without "
              "counts: N * bound",
    .depth = 2,
    .refuses = refuses,
    .generate = generate,
};
