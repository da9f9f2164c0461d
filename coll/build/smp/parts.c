/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/flat.h"
#include "coll/build/smp/masters.h"
#include "coll/build/pace.h"
#include "coll/build/smp/parts.h"
#include "coll/build/exchange/personal.h"

static unsigned locals(const struct node *n, unsigned index)
{
    return masters_ranks(n, index, 1);
}

size_t parts_bytes(const struct node *n, unsigned from, unsigned to)
{
    return locals(n, from) * locals(n, to) * n->args->bytes;
}

size_t parts_place_on(const struct node *n, unsigned index, unsigned distance)
{
    return locals(n, index) * masters_ranks(n, index, distance) *
           n->args->bytes;
}

size_t parts_place(const struct node *n, unsigned distance)
{
    return parts_place_on(n, n->index, distance);
}

unsigned parts_flags(const struct node *n, unsigned messages)
{
    return NODE_ARRIVED + (messages + n->count - 1) / n->count;
}

void parts_post(const struct node *n)
{
    const size_t bytes = n->args->bytes;
    const unsigned local = n->rank - n->first;
    n->s->phase = 1;
    flat_copy_others(n->s, personal_source(n->args, n->first),
                     dcoll_at(DCOLL_NODE, local * n->count * bytes), n->count,
                     local, bytes);
    for (unsigned d = 1; d < n->shape->nnodes; d++) {
        const unsigned to = masters_after(n, d);
        const size_t mine = locals(n, to) * bytes;
        dcoll_add_copy(n->s, personal_source(n->args, masters_of(n, to)),
                       dcoll_at(DCOLL_NODE, parts_place(n, d) + local * mine),
                       mine);
    }
    if (n->count > 1)
        node_signal(n, NODE_POSTED);
}

void parts_gather(const struct node *n)
{
    parts_post(n);
    node_await_all(n, NODE_POSTED, 0);
}

void parts_scatter(const struct node *n, unsigned from, size_t offset)
{
    const size_t bytes = n->args->bytes;
    const unsigned first = masters_of(n, from), local = n->rank - n->first;
    n->s->phase = 3;
    for (unsigned i = 0; i < locals(n, from); i++) {
        const size_t at = offset + (i * n->count + local) * bytes;
        if (first + i != n->rank)
            flat_copy(n->s, dcoll_at(DCOLL_NODE, at),
                      dcoll_at(DCOLL_RECV, (first + i) * bytes), bytes);
    }
}

void parts_keep(const struct node *n)
{
    const size_t own = n->rank * n->args->bytes;
    parts_scatter(n, n->index, 0);
    if (!n->args->in_place)
        dcoll_add_copy(n->s, personal_source(n->args, n->rank),
                       dcoll_at(DCOLL_RECV, own), n->args->bytes);
}

/* ------------------------------------------------------------- messages --- */

/* The rank of a node that sends and receives a message. */
static unsigned agent(const struct node *n, unsigned index,
                      const struct parts_message *m)
{
    return masters_of(n, index) + m->number % locals(n, index);
}

static unsigned flag_of(const struct node *n, const struct parts_message *m)
{
    return NODE_ARRIVED + m->number / n->count;
}

static unsigned source(const struct node *n, const struct parts_message *m)
{
    return agent(n, masters_before(n, m->distance), m);
}

bool parts_mine(const struct node *n, const struct parts_message *m)
{
    return agent(n, n->index, m) == n->rank;
}

void parts_grant(const struct node *n, const struct parts_message *m)
{
    if (parts_mine(n, m))
        masters_grant(n, source(n, m), m->port);
}

void parts_send(const struct node *n, const struct parts_message *m, size_t src,
                size_t dst, size_t bytes)
{
    const unsigned target = agent(n, masters_after(n, m->distance), m);
    n->s->phase = 2;
    n->s->step = (uint16_t)m->step;
    pace(n->s, n->args);
    masters_take(n, target);
    dcoll_add_put(n->s, target, m->port, dcoll_at(DCOLL_NODE, src),
                  dcoll_at(DCOLL_NODE, dst), bytes);
}

void parts_receive(const struct node *n, const struct parts_message *m)
{
    n->s->phase = 2;
    n->s->step = (uint16_t)m->step;
    if (!parts_mine(n, m)) {
        node_await(n, agent(n, n->index, m), flag_of(n, m), 0);
        return;
    }
    dcoll_add_wait(n->s, source(n, m), DCOLL_DATA, 0);
    if (n->count > 1)
        node_signal(n, flag_of(n, m));
}
