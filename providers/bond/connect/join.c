/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links that join a connection: first the links of the other members, later the
 * links that replace lost ones. The active side asks the peer, as soon as its
 * own link has ended. Both sides number the links of each member: the epoch.
 * ia->lock is held, and b->lock.
 */
#include <stdio.h>

#include "providers/bond/progress.h"
#include "providers/bond/connect/connect.h"
#include "providers/bond/links/links.h"

#define TIMEOUT_NS (1000 * BOND_MS)
#define HURRY_NS   (200 * BOND_MS) /* the same while no link is up */
#define PAUSE_MIN  (20 * BOND_MS)
#define PAUSE_MAX  (200 * BOND_MS)
#define LOOK_NS    (20 * BOND_MS)
#define FAILURES   4 /* attempts without an answer: then a message says so */

static bool may_join(const struct bond_conn *c, unsigned member)
{
    return !c->link[member] && c->path[member].qual && !c->bye_until;
}

/* ---------------------------------------------------------- active side --- */

static void say_unreachable(const struct bond_conn *c, unsigned member)
{
    fprintf(stderr,
            "dapl bond: rail %s: %s does not reach the peer; the others carry "
            "all until it does\n",
            c->b->ia->name, c->b->params.names[member]);
}

void bond_join_failed(struct bond_conn *c, unsigned member, bool answered)
{
    struct bond_path *p = &c->path[member];
    p->failures += !p->joined && !answered && c->active;
    if (p->failures == FAILURES)
        say_unreachable(c, member);
    p->pause = p->pause && !c->cut_off ? 2 * p->pause : PAUSE_MIN;
    p->pause = p->pause < PAUSE_MAX ? p->pause : PAUSE_MAX;
}

bool bond_join_complete(const struct bond_conn *c)
{
    bool complete = true;
    for (unsigned i = 0; i < c->b->params.count; i++)
        complete = complete && (c->path[i].joined || c->path[i].pause);
    return c->active ? complete : c->peer_ready;
}

static void try_join(struct bond_conn *c, unsigned member, uint64_t now)
{
    struct bond_path *p = &c->path[member];
    struct bond_said said;
    p->retry_at = now + (p->pause ? p->pause : PAUSE_MIN);
    struct bond_link *l = bond_link_new(c, member, p->epoch + 1);
    if (!l) {
        bond_join_failed(c, member, false);
        return;
    }
    struct bond_join join = {
        .to = c->peer_id, .epoch = l->epoch, .token = c->peer_token};
    DAT_COUNT bytes =
        bond_hello_say(c->b, BOND_JOIN, sizeof join, &join, &said);
    l->asked_at = now;
    if (dat_ep_connect(l->ep, (DAT_IA_ADDRESS_PTR)&p->address, p->qual,
                       DAT_TIMEOUT_INFINITE, bytes, &said, DAT_QOS_BEST_EFFORT,
                       DAT_CONNECT_DEFAULT_FLAG)) {
        bond_link_drop(l);
        bond_join_failed(c, member, false);
    }
}

/* The bond has a timeout of its own: after the one of libdaplofa, the queue
 * pair does not give its receives back. */
static void give_up(struct bond_conn *c, unsigned member, uint64_t now)
{
    struct bond_link *l = c->link[member];
    uint64_t most = c->cut_off ? HURRY_NS : TIMEOUT_NS;
    if (!l || l->state != BOND_LINK_CONNECTING || now < l->asked_at + most)
        return;
    bond_link_leave(l);
    bond_join_failed(c, member, false);
}

uint64_t bond_join_look(struct bond_conn *c, uint64_t now)
{
    uint64_t next = now + LOOK_NS;
    for (unsigned i = 0; c->active && i < c->b->params.count; i++) {
        struct bond_path *p = &c->path[i];
        give_up(c, i, now);
        if (may_join(c, i) && p->retry_at <= now)
            try_join(c, i, now);
        if (may_join(c, i) && p->retry_at < next)
            next = p->retry_at;
    }
    return next;
}

/* --------------------------------------------------------- passive side --- */

/* The connection that a peer's link may join. */
static struct bond_conn *find(const struct bond_ia *b,
                              const struct bond_join *join)
{
    struct bond_conn *c = b->conns;
    while (c && (c->id != join->to || c->state < BOND_JOINING ||
                 c->state > BOND_DRAINING))
        c = c->next;
    return c && c->token == join->token ? c : NULL;
}

/* A higher epoch is a new attempt of the peer. So at the peer, the earlier link
 * has ended, or its attempt. */
static void end_earlier(const struct bond_conn *c, unsigned member,
                        uint32_t epoch)
{
    struct bond_link *l = c->link[member];
    if (l && epoch > l->epoch)
        bond_link_leave(l);
}

static bool is_newer(const struct bond_conn *c, unsigned member, uint32_t epoch)
{
    return !c->link[member] && epoch > c->path[member].epoch;
}

void bond_on_join_request(struct bond_member *m, DAT_CR_HANDLE cr,
                          const struct bond_said *asks)
{
    struct bond_join join = {0};
    struct bond_said said;
    struct bond_link *l = NULL;
    if (asks->hello.size == sizeof join)
        memcpy(&join, asks->data, sizeof join);
    struct bond_conn *c = find(m->b, &join);
    if (c)
        end_earlier(c, m->index, join.epoch);
    if (c && is_newer(c, m->index, join.epoch))
        l = bond_link_new(c, m->index, join.epoch);
    DAT_COUNT bytes =
        bond_hello_say(m->b, c ? BOND_JOIN : BOND_GONE, 0, NULL, &said);
    DAT_RETURN ret =
        l ? dat_cr_accept(cr, l->ep, bytes, &said) : DAT_INSUFFICIENT_RESOURCES;
    if (!bond_request_gone(ret))
        dat_cr_reject(cr, bytes, &said);
    if (l && ret != DAT_SUCCESS)
        bond_link_drop(l);
}
