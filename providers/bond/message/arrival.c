/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the peer. b->lock is held. */
#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"
#include "providers/bond/message/message.h"

static void on_first_intro(struct bond_conn *c, const struct bond_intro *intro)
{
    c->peer_id = intro->id;
    c->peer_token = intro->token;
    c->peer_pid = intro->pid;
    c->peer_table = intro->table;
    c->peer_zone = intro->zone;
    for (unsigned i = 0; i < intro->count; i++) {
        struct bond_path *p = &c->path[i];
        p->table = intro->member[i].table;
        p->qual = intro->member[i].qual;
        p->address = intro->member[i].address;
    }
}

static void on_intro(struct bond_link *l, const struct bond_intro *intro)
{
    struct bond_conn *c = l->conn;
    if (intro->count != c->b->params.count)
        return;
    if (!c->peer_id)
        on_first_intro(c, intro);
    if (intro->id != c->peer_id || intro->token != c->peer_token) {
        bond_link_leave(l); /* of another peer */
        return;
    }
    l->peer_mark = intro->mark;
    l->peer_mark_context = intro->mark_context;
    l->introduced = true;
    bond_thread_wake(c->b); /* other links can join now */
}

static void on_ended(struct bond_conn *c, const struct bond_ended *e)
{
    if (e->member >= c->b->params.count)
        return;
    struct bond_path *p = &c->path[e->member];
    struct bond_link *l = c->link[e->member];
    if ((int32_t)(e->epoch - p->peer_ended.epoch) >= 0)
        p->peer_ended = *e;
    if (l && (int32_t)(e->epoch - l->epoch) >= 0)
        bond_link_leave(l);
    bond_thread_wake(c->b);
}

static void on_numbered(struct bond_link *l, struct bond_slot *slot)
{
    struct bond_conn *c = l->conn;
    if (slot->at->number != c->expected) {
        /* it has arrived before; or one before it never will */
        if ((int32_t)(slot->at->number - c->expected) > 0)
            bond_give_up(c);
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
    case BOND_ANSWERS:
        if (h->bytes == sizeof(struct bond_answers))
            bond_on_answers(l->conn, (const struct bond_answers *)(h + 1));
        break;
    case BOND_ENDED:
        if (h->bytes == sizeof(struct bond_ended))
            on_ended(l->conn, (const struct bond_ended *)(h + 1));
        break;
    case BOND_READY:
        l->conn->peer_ready = true;
        bond_thread_wake(l->conn->b);
        break;
    case BOND_BYE:
        l->conn->bye = l->bye = true;
        l->arrived = h->total;
        bond_thread_wake(l->conn->b);
        break;
    case BOND_PING:
        l->asked = true;
        break;
    case BOND_BREAK:
        l->conn->peer_gone = true;
        bond_thread_wake(l->conn->b);
        break;
    case BOND_NEWS:
    case BOND_DATA:
    case BOND_ATOMIC:
        break;
    }
}

void bond_on_message(struct bond_link *l, struct bond_slot *slot,
                     uint64_t bytes)
{
    const struct bond_header *h = slot->at;
    if (bytes < sizeof *h || h->bytes != bytes - sizeof *h) {
        bond_give_up(l->conn); /* the peer is no bond */
        return;
    }
    if ((int32_t)(h->returned - l->peer_returned) > 0)
        l->peer_returned = h->returned;
    if ((int32_t)(h->delivered - l->conn->peer_delivered) > 0)
        bond_delivered(l->conn, h->delivered);
    if (h->kind <= BOND_ATOMIC) {
        on_numbered(l, slot);
        return;
    }
    on_own(l, h);
    bond_slot_done(slot);
}
