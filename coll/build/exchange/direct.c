/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/direct.h"
#include "coll/build/flat.h"
#include "coll/build/pace.h"

static unsigned step_of(const struct direct *x, unsigned distance)
{
    return x->first_step + (distance - 1) / x->shape->ports;
}

unsigned direct_steps(const dcoll_shape_t *shape)
{
    return (shape->nranks - 1 + shape->ports - 1) / shape->ports;
}

static unsigned port_of(const struct direct *x, unsigned distance)
{
    return (distance - 1) % x->shape->ports;
}

static void change_all(const struct direct *x, grant_change_t *change)
{
    const unsigned n = x->shape->nranks;
    for (unsigned d = 1; d < n; d++)
        change(x->s, x->grant, x->args, flat_before(n, x->rank, d),
               port_of(x, d));
}

void direct_open(const struct direct *x)
{
    change_all(x, grant_open);
}

void direct_close(const struct direct *x)
{
    change_all(x, grant_close);
}

static void post(const struct direct *x, unsigned from, unsigned end)
{
    for (unsigned d = from; d < end; d++) {
        const unsigned target = flat_after(x->shape->nranks, x->rank, d);
        x->s->step = (uint16_t)step_of(x, d);
        pace(x->s, x->args);
        grant_take(x->s, x->grant, x->args, target);
        x->put(x, target, port_of(x, d));
    }
}

static void wait_for(const struct direct *x, unsigned from, unsigned end)
{
    for (unsigned d = from; d < end; d++) {
        x->s->step = (uint16_t)step_of(x, d);
        dcoll_add_wait(x->s, flat_before(x->shape->nranks, x->rank, d),
                       DCOLL_DATA, 0);
    }
}

void direct_exchange(const struct direct *x)
{
    const unsigned n = x->shape->nranks;
    unsigned posted = pace_end(x->args, x->shape->ports, 1, n), come = 1;
    post(x, 1, posted);
    if (x->meanwhile)
        x->meanwhile(x);
    while (come < n) {
        wait_for(x, come, posted);
        come = posted;
        posted = pace_end(x->args, x->shape->ports, come, n);
        post(x, come, posted);
    }
}
