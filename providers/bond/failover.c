/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lost links. Both ends end the link. Each end then handles all that arrived
 * over it, and tells the other end so, over another link (or over the member's
 * next one, if no other is left). From then on nothing of the lost link can
 * arrive, and its lost ops are posted again. b->lock is held.
 */
#include <stdio.h>

#include "providers/core/ep_health.h"
#include "providers/bond/progress.h"
#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"
#include "providers/bond/message/message.h"
#include "providers/bond/transfer/transfer.h"

/* A link that owes a sign of life is pinged when it has been silent so long. */
#define PING_NS (30 * BOND_MS)
/* It is lost when it has been silent so long, if another link answers. A packet
 * of 64 KB takes half of this time at 10 Mbit/s. */
#define SILENCE_NS (100 * BOND_MS)
/* The most time that counts between two looks: this end may not have run. */
#define LOOK_NS (25 * BOND_MS)

/* ----------------------------------------------------------- settlement --- */

/* False: the connection ends with all of its links, so none takes over. */
static bool goes_on(const struct bond_conn *c)
{
    return c->state != BOND_LEAVING && !c->bye && !c->peer_gone &&
           !atomic_load(&c->aborted);
}

void bond_path_ended(struct bond_link *l)
{
    struct bond_conn *c = l->conn;
    struct bond_path *p = &c->path[l->m->index];
    uint64_t written = bond_link_written(l);
    p->ended = l->epoch;
    if (written) { /* else the peer may still need the old mark */
        p->marked = l->epoch;
        p->mark = written;
    }
    if (l->introduced && !p->unsettled)
        p->unsettled = l->epoch;
    if (l->m->index == BOND_FIRST_MEMBER && goes_on(c))
        bond_ranges_spread(c->b); /* before the peer hears of it */
    c->news = true;               /* news over this link may be lost, … */
    c->answers_due = c->answers.count || c->answers.refused;
    for (unsigned i = 0; i < c->b->params.count; i++)
        c->path[i].told = false; /* … and so may BOND_ENDED */
}

/* The writes over the lost link that the peer has. */
static uint64_t arrived(const struct bond_path *p)
{
    const struct bond_ended *e = &p->peer_ended;
    return e->marked == p->unsettled ? e->mark : 0;
}

/* Has the peer had the message, or the write? */
static bool was_done(const struct bond_path *p, const struct bond_op *op)
{
    if (op->ordered)
        return (int32_t)(op->header.number - p->peer_ended.expected) < 0;
    return op->mark && op->mark <= arrived(p);
}

/* Have both ends handled all that arrived over the member's lost link? */
static bool can_settle(const struct bond_path *p)
{
    return p->unsettled && (int32_t)(p->peer_ended.epoch - p->unsettled) >= 0;
}

/* The peer must have counted all writes that were complete here, and none that
 * was not posted. Else a write would be lost, or done twice, and the consumers
 * would wait for ever, or take wrong data. Marks may lag behind the writes. */
static bool counts_fit(const struct bond_conn *c, unsigned member)
{
    const struct bond_path *p = &c->path[member];
    uint64_t first = UINT64_MAX, last = 0;
    for (const struct bond_op *op = p->lost; op; op = op->next) {
        if (!op->mark)
            continue;
        first = op->mark < first ? op->mark : first;
        last = op->mark > last ? op->mark : last;
    }
    return !last || !c->b->member[member].counts ||
           (arrived(p) >= first - 1 && arrived(p) <= last);
}

static void settle(struct bond_conn *c, unsigned member)
{
    struct bond_path *p = &c->path[member];
    if (!counts_fit(c, member)) {
        fprintf(stderr,
                "dapl bond: rail %s: the peer has miscounted the writes over "
                "%s\n",
                c->b->ia->name, c->b->params.names[member]);
        bond_give_up(c);
        return;
    }
    bond_keys_forget(c);
    for (struct bond_op *op; (op = p->lost);) {
        p->lost = op->next;
        if (was_done(p, op))
            bond_op_done(op);
        else
            bond_op_insert(&c->redo, op);
    }
    p->unsettled = 0;
}

/* May another link become the lead? Not while the lead's link is up, or may
 * still bring messages; nor before both ends know what arrived over it. */
static bool is_lead_free(const struct bond_conn *c)
{
    if (c->lead == BOND_NONE)
        return true;
    const struct bond_link *l = c->link[c->lead];
    bool carries = l && (l->state == BOND_LINK_UP || l->introduced);
    return !carries && !c->path[c->lead].unsettled;
}

/* ------------------------------------------------------------ each look --- */

/* The next link may be there already: if all links were lost, it carries this.
 */
static void tell_ended(struct bond_conn *c)
{
    struct bond_link *over = bond_any_up(c);
    for (unsigned i = 0; over && i < c->b->params.count; i++) {
        struct bond_path *p = &c->path[i];
        if (!p->ended || p->told)
            continue;
        struct bond_ended e = {.member = i,
                               .epoch = p->ended,
                               .expected = c->expected,
                               .marked = p->marked,
                               .mark = p->mark};
        p->told = bond_say(over, BOND_ENDED, &e, sizeof e);
    }
}

/* Has another link been alive since the last ping over this one? */
static bool others_answer(const struct bond_conn *c, const struct bond_link *l)
{
    for (unsigned i = 0; i < c->b->params.count; i++) {
        const struct bond_link *o = c->link[i];
        if (o && o != l && o->state == BOND_LINK_UP && o->lived > l->pinged &&
            o->lived > l->heard)
            return true;
    }
    return false;
}

static void ping_all(struct bond_conn *c, uint64_t now)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i] && !c->link[i]->asks &&
            bond_say(c->link[i], BOND_PING, NULL, 0)) {
            c->link[i]->asks = true;
            c->link[i]->pinged = now;
        }
}

/* Notes the signs of life since the last look. Some members report on the wire:
 * then acknowledgements of the peer's system are signs of life, too, and a link
 * owes a sign of life while that system owes an acknowledgement. This end may
 * have no requests then: the peer reads. Returns how long the link may be
 * silent: a slow wire has shown that it answers late. */
static uint64_t observe(struct bond_link *l, uint64_t now, uint64_t passed)
{
    struct health wire = ep_health(l->ep);
    bool owes = wire.reported ? wire.silent_ms != 0 : l->requests != 0;
    bool passes = l->wire_bytes && wire.bytes != l->wire_bytes;
    bool alive = l->alive || passes;
    if (alive)
        l->lived = now;
    if (alive || !owes) {
        l->heard = now;
        l->silent = 0;
    } else {
        l->silent += passed;
    }
    l->alive = false;
    l->wire_bytes = wire.bytes;
    uint64_t slow = 2 * wire.answer_ms * BOND_MS;
    return slow > SILENCE_NS ? slow : SILENCE_NS;
}

bool bond_link_silent(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++) {
        const struct bond_link *l = c->link[i];
        if (l && l->silent && l->silent < 2 * SILENCE_NS)
            return true;
    }
    return false;
}

/* Ends silent links. True: a link needs a ping. */
static bool look_silence(struct bond_conn *c, uint64_t now)
{
    uint64_t passed = now - c->looked;
    bool asks = false;
    c->looked = now;
    for (unsigned i = 0; i < c->b->params.count; i++) {
        struct bond_link *l = c->link[i];
        if (!l || l->state != BOND_LINK_UP)
            continue;
        uint64_t most = observe(l, now, passed < LOOK_NS ? passed : LOOK_NS);
        if (l->silent > most && others_answer(c, l))
            bond_link_leave(l);
        else if (l->silent > PING_NS && now > l->pinged + PING_NS)
            asks = true;
    }
    return asks;
}

void bond_failover_look(struct bond_conn *c, uint64_t now)
{
    bond_news_send(c);
    for (unsigned i = 0; i < c->b->params.count; i++)
        bond_link_flush(bond_usable_link(c, i));
    if (look_silence(c, now))
        ping_all(c, now);
    tell_ended(c);
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (can_settle(&c->path[i]))
            settle(c, i);
    if (is_lead_free(c))
        c->lead = bond_any_usable(c);
    bond_issue(c);
}

void bond_link_drop(struct bond_link *l)
{
    bond_link_close(l);
    bond_drain(l->m);
    while (l->first) /* quiet */
        bond_op_lost(bond_op_next(l));
    bond_link_free(l);
}
