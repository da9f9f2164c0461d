/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the two ends of a connection. Each message uses a slot of
 * the receiver. The sender counts the slots that it has used. The receiver
 * tells in each of its own messages how many slots are free again. b->lock is
 * held.
 */
#include <stdlib.h>
#include <unistd.h>

#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"

/* Free slots that the peer does not know of: when there are so many, this end
 * sends BOND_NEWS. The bound is below BOND_RESERVE, so that the peer's own
 * messages never lack slots. */
#define TELL_AFTER (BOND_RESERVE / 2)

static uint32_t used_slots(const struct bond_link *l)
{
    return l->sent - l->peer_returned;
}

bool bond_may_send(const struct bond_link *l)
{
    return used_slots(l) < BOND_SLOTS - BOND_RESERVE;
}

/* The last slot is for a BOND_NEWS that returns slots. So two ends that have
 * used all other slots can still tell each other which slots are free again. */
static bool may_say(const struct bond_link *l, enum bond_message_kind kind)
{
    uint32_t most = BOND_SLOTS - 1;
    if (kind == BOND_NEWS && l->returned != l->told)
        most = BOND_SLOTS;
    return l->state == BOND_LINK_UP && used_slots(l) < most;
}

bool bond_say(struct bond_link *l, enum bond_message_kind kind,
              const void *data, size_t bytes)
{
    struct bond_op op = {
        .kind = BOND_OP_MESSAGE,
        .request = BOND_NO_REQUEST,
        .header = {.kind = (uint8_t)kind, .bytes = (uint16_t)bytes}};
    if (kind == BOND_BYE)
        op.header.total = bond_link_written(l);
    return may_say(l, kind) && bond_op_start(&op, l, data);
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
                               .mark_context = l->remote_context,
                               .pid = getpid(),
                               .zone = c->zone->id};
    for (unsigned i = 0; i < b->params.count; i++)
        intro.member[i] =
            (struct bond_intro_member){.table = c->zone->table_context[i],
                                       .qual = b->member[i].join_qual,
                                       .address = b->member[i].address};
    if (!bond_say(l, BOND_INTRO, &intro, sizeof intro))
        bond_link_leave(l);
}

/* ---------------------------------------------------------------- slots --- */

static void tell(struct bond_link *l, bool news)
{
    if (news || l->asked || l->returned - l->told >= TELL_AFTER)
        bond_say(l, BOND_NEWS, NULL, 0);
}

static void answer(struct bond_conn *c)
{
    struct bond_link *l = bond_any_up(c);
    if (l && bond_say(l, BOND_ANSWERS, &c->answers, sizeof c->answers))
        c->answers_due = false;
}

void bond_news_send(struct bond_conn *c)
{
    if (c->answers_due)
        answer(c);
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i])
            tell(c->link[i], c->news);
}

void bond_slot_done(struct bond_slot *slot)
{
    struct bond_link *l = slot->receive.link;
    if (!l) { /* a copy: its link has ended */
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
    tell(l, false);
}
