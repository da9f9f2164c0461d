/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The k-port model (Qian and Afsahi 2008, section 3.2): in a step a rank sends
 * at most k messages and receives at most k, through different ports. PUT, GET
 * and DATA alone are messages; READY and CREDIT cost nothing there. A message
 * that wraps around takes two puts, one directly after the other.
 * Multi-connection algorithms (Qian et al. 2008) share ports: one message for
 * each connection.
 *
 * A message of a step may depend only on messages of earlier steps: playing
 * checks that.
 */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "verify.h"

/* The use of ports or connections: 1 + the other rank, at [((step * nranks +
 * rank) * 2
 * + receives) * lanes + lane]. */
struct ports {
    struct verifier *v;
    bool connections;
    unsigned lanes;
    uint32_t *peer;
};

static bool is_message(const dcoll_op_t *op)
{
    return op->kind == DCOLL_PUT || op->kind == DCOLL_GET ||
           (op->kind == DCOLL_NOTIFY && op->tag == DCOLL_DATA);
}

static unsigned steps_of(const struct verifier *v)
{
    unsigned steps = 0;
    for (unsigned r = 0; r < v->nranks; r++)
        for (unsigned i = 0; i < schedule_of(v, r)->nops; i++) {
            const dcoll_op_t *op = &schedule_of(v, r)->ops[i];
            if (is_message(op) && op->step >= steps)
                steps = op->step + 1u;
        }
    return steps;
}

/* Does the operation continue the message of the one before? */
static bool goes_on(const dcoll_schedule_t *s, unsigned index)
{
    const dcoll_op_t *a = index ? &s->ops[index - 1] : NULL;
    const dcoll_op_t *b = &s->ops[index];
    return a && a->kind == DCOLL_PUT && b->kind == DCOLL_PUT &&
           a->peer == b->peer && a->port == b->port && a->step == b->step;
}

static void take(const struct ports *p, unsigned rank, unsigned index)
{
    const struct verifier *v = p->v;
    const dcoll_op_t *op = &schedule_of(v, rank)->ops[index];
    bool get = op->kind == DCOLL_GET;
    for (unsigned end = 0; end < 2; end++) {
        /* first the poster's end */
        unsigned here = end ? op->peer : rank, there = end ? rank : op->peer;
        bool receives = end ? !get : get;
        size_t row = ((size_t)op->step * v->nranks + here) * 2 + receives;
        unsigned lane = p->connections ? there : op->port;
        uint32_t *peer = &p->peer[row * p->lanes + lane];
        if (*peer) {
            verify_fail_at(
                p->v, rank, 0, index,
                "in step %u, rank %u %s rank %u through port %u, too", op->step,
                here, receives ? "receives from" : "sends to", *peer - 1,
                op->port);
            return;
        }
        *peer = there + 1;
    }
}

void verify_ports(struct verifier *v)
{
    size_t rows = (size_t)steps_of(v) * v->nranks * 2;
    bool connections = schedule_of(v, 0)->connections;
    struct ports p = {.v = v,
                      .connections = connections,
                      .lanes = connections ? v->nranks : v->shape->ports};
    p.peer = calloc(rows * p.lanes + 1, sizeof *p.peer);
    if (!p.peer)
        v->error = DRAIL_ENOMEM;
    for (unsigned r = 0; r < v->nranks; r++)
        for (unsigned i = 0; i < schedule_of(v, r)->nops && !v->error; i++)
            if (is_message(&schedule_of(v, r)->ops[i]) &&
                !goes_on(schedule_of(v, r), i))
                take(&p, r, i);
    free(p.peer);
}

bool verify_step(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    const struct player *p = &v->players[rank];
    if (op->step >= p->behind || !is_message(op))
        return true;
    verify_fail_at(v, rank, p->start, p->op,
                   "it is of step %u, but comes after messages of step %u",
                   op->step, p->behind - 1);
    return false;
}
