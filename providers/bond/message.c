/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the two ends of a connection. Each takes a slot of the peer:
 * the sender counts those that it has used, the receiver tells in each message
 * how many are free again. b->lock is held.
 */
#include <stdlib.h>

#include "bond.h"

#define TELL_AFTER (BOND_SLOTS / 4) /* free slots that the peer does not know  \
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
                               .mark_context = l->remote_context};
    for (unsigned i = 0; i < b->params.count; i++)
        intro.member[i] =
            (struct bond_intro_member){.table = c->zone->table_context[i],
                                       .qual = b->member[i].join_qual,
                                       .address = b->member[i].address};
    if (!bond_say(l, BOND_INTRO, &intro, sizeof intro))
        bond_link_leave(l);
}

static void on_intro(struct bond_link *l, const struct bond_intro *intro)
{
    struct bond_conn *c = l->conn;
    if (intro->count != c->b->params.count)
        return;
    c->peer_id = intro->id;
    c->peer_table = intro->table;
    for (unsigned i = 0; i < intro->count; i++) {
        struct bond_path *p = &c->path[i];
        p->table = intro->member[i].table;
        p->qual = intro->member[i].qual;
        p->address = intro->member[i].address;
    }
    l->peer_mark = intro->mark;
    l->peer_mark_context = intro->mark_context;
    l->introduced = true;
    bond_thread_wake(c->b); /* other links can join now */
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

/* A copy that belongs to no link; NULL: out of memory. */
static struct bond_slot *copy_of(const struct bond_slot *slot)
{
    size_t bytes = sizeof *slot->at + slot->at->bytes;
    struct bond_slot *copy = malloc(sizeof *copy + bytes);
    if (!copy)
        return NULL;
    *copy = *slot;
    copy->receive.link = NULL;
    copy->at = (struct bond_header *)(copy + 1);
    memcpy(copy->at, slot->at, bytes);
    return copy;
}

void bond_slots_keep(struct bond_link *l)
{
    struct bond_conn *c = l->conn;
    for (struct bond_slot **at = &c->waiting; *at; at = &(*at)->next) {
        if ((*at)->receive.link != l)
            continue;
        struct bond_slot *copy = copy_of(*at);
        if (!copy) { /* what follows can't be delivered either */
            atomic_store(&c->aborted, true);
            *at = NULL;
            c->waiting_end = at;
            return;
        }
        if (c->waiting_end == &(*at)->next)
            c->waiting_end = &copy->next;
        *at = copy;
    }
}

/* -------------------------------------------------------------- arrival --- */

static void on_data(struct bond_link *l, struct bond_slot *slot)
{
    struct bond_conn *c = l->conn;
    if (slot->at->number != c->expected) { /* it came over a lost link, too */
        bond_slot_done(slot);
        return;
    }
    c->expected++;
    slot->next = NULL;
    *c->waiting_end = slot;
    c->waiting_end = &slot->next;
    bond_deliver(c);
}

static void on_own(struct bond_link *l, const struct bond_header *h)
{
    switch ((enum bond_message_kind)h->kind) {
    case BOND_INTRO:
        if (h->bytes == sizeof(struct bond_intro))
            on_intro(l, (const struct bond_intro *)(h + 1));
        break;
    case BOND_ENDED:
        if (h->bytes == sizeof(struct bond_ended))
            bond_on_ended(l->conn, (const struct bond_ended *)(h + 1));
        break;
    case BOND_READY:
        l->conn->peer_ready = true;
        bond_thread_wake(l->conn->b);
        break;
    case BOND_BYE:
        l->conn->bye = true;
        bond_thread_wake(l->conn->b);
        break;
    case BOND_PING:
        bond_say(l, BOND_PONG, NULL, 0);
        break;
    case BOND_PONG:
    case BOND_NEWS:
    case BOND_DATA:
        break;
    }
}

void bond_on_message(struct bond_link *l, struct bond_slot *slot,
                     uint64_t bytes)
{
    const struct bond_header *h = slot->at;
    if (bytes < sizeof *h || h->bytes != bytes - sizeof *h) {
        atomic_store(&l->conn->aborted, true); /* not of a bond */
        return;
    }
    if ((int32_t)(h->returned - l->peer_returned) > 0)
        l->peer_returned = h->returned;
    if ((int32_t)(h->delivered - l->conn->peer_delivered) > 0)
        bond_delivered(l->conn, h->delivered);
    if (h->kind == BOND_DATA) {
        on_data(l, slot);
        return;
    }
    on_own(l, h);
    bond_slot_done(slot);
}
