/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the two ends of a connection. Each takes a slot of the peer:
 * the sender counts those that it has used, the receiver tells in each message
 * how many are free again. b->lock is held.
 */
#include <stdlib.h>

#include "bond.h"

#define TELL_AFTER                                                             \
    (BOND_SLOTS / 4) /* free slots that the peer does not know                 \
                      */

bool bond_may_send(const struct bond_link *l, bool ordered)
{
    uint32_t most = BOND_SLOTS - (ordered ? BOND_RESERVE : 0);
    return l->sent - l->peer_returned < most;
}

bool bond_say(struct bond_link *l, enum bond_message_kind kind,
              const void *data, size_t bytes)
{
    if (l->state != BOND_LINK_UP || !bond_may_send(l, false))
        return false;
    struct bond_op *op = bond_op_new(l->conn, BOND_OP_MESSAGE, UINT64_MAX);
    if (!op)
        return false;
    op->header =
        (struct bond_header){.kind = (uint8_t)kind, .bytes = (uint16_t)bytes};
    if (bytes)
        memcpy(l->region->send[op->place] + sizeof op->header, data, bytes);
    bool posted = bond_op_post(op, l);
    if (!posted)
        bond_op_free(op);
    return posted;
}

/* ---------------------------------------------------------------- intro --- */

void bond_intro_send(struct bond_link *l)
{
    struct bond_conn *c = l->conn;
    struct bond_ia *b = c->b;
    struct bond_intro intro = {.id = c->id,
                               .count = b->params.count,
                               .table = (uintptr_t)b->table,
                               .mark = (uintptr_t)&l->region->mark,
                               .token = c->token,
                               .mark_context = l->remote_context};
    for (unsigned i = 0; i < b->params.count; i++)
        intro.member[i] =
            (struct bond_intro_member){.table = c->zone->table_context[i],
                                       .qual = b->member[i].join_qual,
                                       .address = b->member[i].address};
    if (!bond_say(l, BOND_INTRO, &intro, sizeof intro))
        bond_link_leave(l);
}

/* ---------------------------------------------------------------- slots --- */

static void tell_credits(struct bond_link *l)
{
    if (l->returned - l->told >= TELL_AFTER)
        bond_say(l, BOND_NEWS, NULL, 0);
}

void bond_news_send(struct bond_conn *c)
{
    for (unsigned i = 0; c->news && i < c->b->params.count; i++)
        if (c->link[i])
            bond_say(c->link[i], BOND_NEWS, NULL, 0);
}

void bond_slot_done(struct bond_slot *slot)
{
    struct bond_link *l = slot->receive.link;
    if (!l) { /* kept */
        free(slot);
        return;
    }
    if (l->state == BOND_LINK_LEAVING)
        return;
    if (bond_slot_post(l, slot)) {
        bond_link_leave(l);
        return;
    }
    l->returned++;
    tell_credits(l);
}
