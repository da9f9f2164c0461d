/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing is moved in vain: the bytes that an operation writes are new at their
 * place, and some rank reads them before they are overwritten. A message or
 * payload is one piece, so some of its bytes may be unneeded; every byte that a
 * rank copies, combines or deals to buckets must be needed. (Elements of a
 * bundle may arrive at the place where they were a phase before: the head tells
 * that it is new.)
 */
#include "verify.h"

static bool moves(const dcoll_op_t *op)
{
    return op->kind == DCOLL_PUT || op->kind == DCOLL_GET ||
           op->kind == DCOLL_COPY || op->kind == DCOLL_COMBINE ||
           op->kind == DCOLL_SIGNAL || op->kind == DCOLL_AWAIT;
}

static bool deals(const dcoll_op_t *op)
{
    return op->kind == DCOLL_DISTRIBUTE || op->kind == DCOLL_COLLECT ||
           op->kind == DCOLL_PACK;
}

static bool needed(const dcoll_op_t *op, uint32_t cells, uint32_t of)
{
    bool each = op->kind == DCOLL_COPY || op->kind == DCOLL_COMBINE;
    return each || deals(op) ? cells == of : cells > 0;
}

static size_t in_a_start(const struct verifier *v, uint32_t cells)
{
    return cells / v->starts * v->grain;
}

static void check_use(struct verifier *v, unsigned rank, unsigned index)
{
    const dcoll_op_t *op = &schedule_of(v, rank)->ops[index];
    const struct use *use = &v->players[rank].uses[index];
    if ((!moves(op) && !deals(op)) || !use->cells)
        return;
    if (!needed(op, use->read, use->cells))
        verify_fail_at(v, rank, 0, index,
                       "superfluous: no rank reads %zu bytes",
                       in_a_start(v, use->cells - use->read));
    else if (op->sized ? !use->fresh
                       : moves(op) && !needed(op, use->fresh, use->cells))
        verify_fail_at(v, rank, 0, index,
                       "superfluous: %zu bytes are there already",
                       in_a_start(v, use->cells - use->fresh));
}

void verify_uses(struct verifier *v)
{
    for (unsigned r = 0; r < v->nranks && !v->error; r++)
        for (unsigned i = 0; i < schedule_of(v, r)->nops && !v->error; i++)
            check_use(v, r, i);
}
