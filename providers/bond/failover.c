/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lost links. Both ends end the link and tell each other, over another one,
 * when all that arrived over it is seen. From then on nothing of it can land
 * late, and what was unfinished goes over other links. b->lock is held.
 */
#include "bond.h"

#define MS         1000000u
#define PING_NS    (30 * MS)  /* without a sign of life, with work to do */
#define SILENCE_NS (100 * MS) /* of a link, while another one answers */

/* Adds an op in the order in which the ops were first posted. */
static void insert(struct bond_op **at, struct bond_op *op)
{
    while (*at && (*at)->serial < op->serial)
        at = &(*at)->next;
    op->next = *at;
    *at = op;
}

void bond_op_lost(struct bond_op *op)
{
    struct bond_conn *c = op->conn;
    if (op->kind == BOND_OP_KEY)
        bond_key_lost(c);
    if (op->request == UINT64_MAX || !bond_conn_open(c))
        bond_op_free(op);
    else
        insert(&c->path[op->link->m->index].lost, op);
}

/* ------------------------------------------------------------ settlement ---
 */

void bond_path_ended(struct bond_link *l)
{
    struct bond_conn *c = l->conn;
    c->path[l->m->index].mark = l->region->mark;
    c->news = true; /* the link may have carried that, or … */
    for (unsigned i = 0; i < c->b->params.count; i++)
        c->path[i].told = false;
}

void bond_on_ended(struct bond_conn *c, const struct bond_ended *e)
{
    if (e->member >= c->b->params.count)
        return;
    struct bond_path *p = &c->path[e->member];
    struct bond_link *l = c->link[e->member];
    if (e->epoch != p->epoch)
        return;
    p->peer_ended = e->epoch;
    p->peer_expected = e->expected;
    p->peer_mark = e->mark;
    if (l)
        bond_link_leave(l);
    bond_thread_wake(c->b);
}

/* Had the peer received it, or was it written, before the link was lost? */
static bool was_done(const struct bond_path *p, const struct bond_op *op)
{
    if (op->ordered)
        return (int32_t)(op->header.number - p->peer_expected) < 0;
    return op->mark && op->mark <= p->peer_mark;
}

static unsigned any_usable(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (bond_link_usable(c->link[i]))
            return i;
    return BOND_NONE;
}

bool bond_path_settled(const struct bond_conn *c, unsigned member)
{
    const struct bond_path *p = &c->path[member];
    return !c->link[member] && p->peer_ended == p->epoch;
}

static void settle(struct bond_conn *c, unsigned member)
{
    struct bond_path *p = &c->path[member];
    for (struct bond_op *op; (op = p->lost);) {
        p->lost = op->next;
        if (was_done(p, op))
            bond_op_done(op);
        else
            insert(&c->redo, op);
    }
    if (c->lead == member)
        c->lead = any_usable(c);
}

static struct bond_link *link_for(const struct bond_conn *c,
                                  const struct bond_op *op)
{
    unsigned member = op->body ? any_usable(c) : c->lead;
    return member < BOND_NONE ? c->link[member] : NULL;
}

bool bond_redo(struct bond_conn *c)
{
    for (struct bond_op *op; (op = c->redo);) {
        struct bond_link *l = link_for(c, op);
        if (!bond_link_usable(l) || (op->ordered && !bond_may_send(l, true)))
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

/* ------------------------------------------------------------ each look --- */

static void tell_ended(struct bond_conn *c)
{
    unsigned over = any_usable(c);
    for (unsigned i = 0; over < BOND_NONE && i < c->b->params.count; i++) {
        struct bond_path *p = &c->path[i];
        if (c->link[i] || !p->epoch || p->told)
            continue;
        struct bond_ended e = {.member = i,
                               .epoch = p->epoch,
                               .expected = c->expected,
                               .mark = p->mark};
        p->told = bond_say(c->link[over], BOND_ENDED, &e, sizeof e);
    }
}

static bool has_work(const struct bond_link *l)
{
    return l->posted > BOND_SLOTS; /* beside its receives */
}

/* Another link has shown life since this one was asked for it. */
static bool others_answer(const struct bond_conn *c, const struct bond_link *l)
{
    for (unsigned i = 0; i < c->b->params.count; i++) {
        const struct bond_link *o = c->link[i];
        if (o && o != l && o->state == BOND_LINK_UP && o->heard > l->pinged &&
            o->heard > l->heard)
            return true;
    }
    return false;
}

static void ping_all(struct bond_conn *c, uint64_t now)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i] && bond_say(c->link[i], BOND_PING, NULL, 0))
            c->link[i]->pinged = now;
}

static bool look_silence(struct bond_conn *c, uint64_t now)
{
    bool asks = false;
    for (unsigned i = 0; i < c->b->params.count; i++) {
        struct bond_link *l = c->link[i];
        if (!l || l->state != BOND_LINK_UP)
            continue;
        if (l->alive || !has_work(l))
            l->heard = now;
        l->alive = false;
        if (now > l->heard + SILENCE_NS && others_answer(c, l))
            bond_link_leave(l);
        else if (now > l->heard + PING_NS && now > l->pinged + PING_NS)
            asks = true;
    }
    return asks;
}

void bond_failover_look(struct bond_conn *c, uint64_t now)
{
    if (c->b->params.count < 2)
        return;
    if (look_silence(c, now))
        ping_all(c, now);
    tell_ended(c);
    bond_news_send(c);
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (bond_path_settled(c, i) && (c->path[i].lost || c->lead == i))
            settle(c, i);
    if (c->lead == BOND_NONE)
        c->lead = any_usable(c);
    bond_issue(c);
}
