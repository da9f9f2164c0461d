/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting lost ops again, and the marks that tell which need not be. b->lock is
 * held, and ep->lock. */
#include "bond.h"

unsigned bond_any_usable(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (bond_link_usable(c->link[i]))
            return i;
    return BOND_NONE;
}

/* The mark of a write: its number, to the peer's word. It has no request: if it
 * is lost, the write is done again. */
void bond_lead_mark(struct bond_conn *c, struct bond_link *l)
{
    struct bond_op *op = c->b->params.count > 1
                             ? bond_op_new(c, BOND_OP_MARK, UINT64_MAX)
                             : NULL;
    if (!op)
        return;
    op->bytes = sizeof op->mark;
    op->mark = l->marks;
    if (!bond_op_post(op, l))
        bond_op_free(op);
}

static struct bond_link *link_for(const struct bond_conn *c,
                                  const struct bond_op *op)
{
    unsigned member = op->body ? bond_any_usable(c) : c->lead;
    return member < BOND_NONE ? c->link[member] : NULL;
}

bool bond_redo(struct bond_conn *c)
{
    for (struct bond_op *op; (op = c->redo);) {
        struct bond_link *l = link_for(c, op);
        if (!bond_link_usable(l) || (op->ordered && !bond_may_send(l)))
            return false;
        c->redo = op->next;
        if (op->mark)
            op->mark = ++l->marks;
        if (!bond_op_post(op, l)) {
            l->marks -= op->mark != 0;
            op->next = c->redo;
            c->redo = op;
            return false;
        }
        if (op->mark)
            bond_lead_mark(c, l);
    }
    return true;
}
