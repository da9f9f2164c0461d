/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting lost ops again. b->lock is held, and ep->lock. */
#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"
#include "providers/bond/transfer/transfer.h"

/* Of a read or write. Cables that flap lose far fewer, one after the other. */
#define LOSSES_MOST 16

struct bond_link *bond_body_link(const struct bond_conn *c,
                                 const struct bond_op *op)
{
    struct bond_link *l = bond_usable_link(c, op->share);
    return l ? l : bond_usable_link(c, bond_any_usable(c));
}

/* The usable link that may carry a lost op, or NULL. */
static struct bond_link *link_for(const struct bond_conn *c,
                                  const struct bond_op *op)
{
    return op->body ? bond_body_link(c, op) : bond_usable_link(c, c->lead);
}

/* May the op be posted again? Not if the peer no longer allows it: it may have
 * ended the link because of it. Nor if it has lost too many links: then it may
 * be the cause, though the peer's table allows it. 1: yes; 0: the peer was
 * asked; -1: no. */
static int is_allowed(struct bond_conn *c, const struct bond_op *op)
{
    if (op->kind != BOND_OP_READ && op->kind != BOND_OP_WRITE)
        return 1;
    if (op->losses > LOSSES_MOST)
        return -1;
    return bond_key_find(c, core_request_at(c->ep, op->request));
}

bool bond_redo(struct bond_conn *c)
{
    for (struct bond_op *op; (op = c->redo);) {
        struct bond_link *l = link_for(c, op);
        if (!l || (op->ordered && !bond_may_send(l)))
            return false;
        int allowed = is_allowed(c, op);
        if (allowed < 0)
            bond_request_fail(c, op->request, DAT_DTO_ERR_REMOTE_ACCESS);
        if (allowed <= 0)
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
            bond_link_mark(l);
    }
    return true;
}
