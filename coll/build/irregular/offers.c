/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/dapl_rail.h"
#include "coll/build/irregular/offer.h"
#include "coll/build/irregular/offers.h"

/* Room in a table for elements that may stay in SEND: some megabytes for all
 * ranks together. */
#define ROOM_OF_ALL ((size_t)4 << 20)
#define ROOM_LEAST  ((size_t)8 << 10)
#define ROOM_MOST   ((size_t)256 << 10)

#define BYTES_MOST (double)((size_t)1 << 46)

size_t offers_room(double bytes)
{
    if (bytes > BYTES_MOST)
        return 0;
    return ((size_t)bytes + DCOLL_CACHE_LINE - 1) / DCOLL_CACHE_LINE *
           DCOLL_CACHE_LINE;
}

static size_t bounded(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Elements with destinations are not sorted in SEND, and those for other nodes
 * are sent from NODE: the table has room for all of these. */
static double room_of(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    const dcoll_traffic_t *t = args->traffic;
    double elements = (double)t->max_rank * (double)t->element;
    if (t->labelled && shape->nnodes == 1)
        elements =
            (double)bounded(ROOM_OF_ALL / shape->nranks, ROOM_LEAST, ROOM_MOST);
    return (double)offer_table(shape->nranks) + elements;
}

struct offers offers_make(const dcoll_shape_t *shape, const dcoll_args_t *args,
                          unsigned rank, dcoll_schedule_t *s)
{
    struct offers o = {.node = node_make(shape, args, rank, s),
                       .room = offers_room(room_of(shape, args))};
    if (!o.room)
        s->error = DRAIL_ENOMEM;
    o.told = o.node.count > 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = o.node.count * o.room;
    s->shared = args->traffic->labelled;
    return o;
}

dcoll_deal_t offers_tables(const struct offers *o)
{
    return (dcoll_deal_t){.fan = o->node.count, .stride = o->room};
}

static dcoll_place_t table_of(const struct offers *o, unsigned rank)
{
    return dcoll_at(DCOLL_NODE, (rank - o->node.first) * o->room);
}

void offers_post(const struct offers *o)
{
    dcoll_add_offer(o->node.s, table_of(o, o->node.rank), o->room);
    if (o->told)
        node_signal(&o->node, NODE_POSTED);
}

void offers_await(const struct offers *o)
{
    node_await_all(&o->node, NODE_POSTED, 0);
}

void offers_expect(const struct offers *o)
{
    const dcoll_deal_t tables = offers_tables(o);
    dcoll_add_expect(o->node.s, o->node.rank, table_of(o, o->node.first),
                     &tables);
}

void offers_pick(const struct offers *o)
{
    for (unsigned i = 0; i < o->node.count; i++) {
        unsigned peer = node_peer(&o->node, i);
        dcoll_add_pick(o->node.s, peer, table_of(o, peer), o->room);
    }
}

void offers_close(const struct offers *o)
{
    dcoll_add_complete(o->node.s);
    if (!o->node.s->shared || o->node.count == 1)
        return;
    node_signal(&o->node, NODE_DONE);
    for (unsigned i = 1; i < o->node.count; i++)
        dcoll_add_await_offered(o->node.s, node_peer(&o->node, i), NODE_DONE);
}

const char *offers_refuse(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    if (!args->traffic)
        return "it is for calls with counts";
    if (args->traffic->max_rank)
        return NULL;
    if (!args->traffic->labelled)
        return "elements without counts need bounds";
    return shape->nnodes > 1 ? "it needs bounds of the counts" : NULL;
}
