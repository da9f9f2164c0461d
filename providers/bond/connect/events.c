/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection events of the members. */
#include <stdio.h>

#include "dapl_rail/platform/busywait.h"

#include "providers/bond/connect/connect.h"
#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"

static void say_unreachable(const struct bond_ia *b)
{
    fprintf(stderr,
            "dapl bond: rail %s: %s, the first member, does not reach the "
            "peer\n",
            b->ia->name, b->params.names[0]);
}

/* The first link could not be set up. */
static void refused(struct bond_conn *c, DAT_EVENT_NUMBER event,
                    const struct bond_said *said, bool spoke)
{
    bool different = spoke && said->hello.members != c->b->hash;
    if (different)
        bond_say_different(c->b);
    if (event == DAT_CONNECTION_EVENT_UNREACHABLE ||
        event == DAT_CONNECTION_EVENT_TIMED_OUT)
        say_unreachable(c->b);
    if (event == DAT_CONNECTION_EVENT_PEER_REJECTED && !different && spoke)
        bond_conn_end(c, event, said->data, said->hello.size);
    else if (event == DAT_CONNECTION_EVENT_PEER_REJECTED)
        bond_conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
    else
        bond_conn_end(c, event, NULL, 0);
}

/* The peer has accepted, but it is no bond, or a bond of other members. */
static void reject(struct bond_link *l, const struct bond_said *said,
                   bool spoke)
{
    struct bond_conn *c = l->conn;
    if (!spoke)
        bond_say_no_bond(c->b);
    bond_link_leave(l);
    if (c->state == BOND_CONNECTING)
        refused(c, DAT_CONNECTION_EVENT_PEER_REJECTED, said, spoke);
    else
        bond_join_failed(c, l->m->index, spoke);
}

static void established(struct bond_link *l, const struct bond_said *said)
{
    struct bond_conn *c = l->conn;
    l->state = BOND_LINK_UP;
    c->path[l->m->index].joined = true;
    c->path[l->m->index].pause = 0;
    bond_intro_send(l);
    if (c->state != BOND_CONNECTING || !c->ep)
        return;
    c->state = BOND_JOINING;
    c->join_until =
        busywait_now_ns() + (c->active ? BOND_JOIN_NS : 2 * BOND_JOIN_NS);
    bond_conn_set_event(c, DAT_CONNECTION_EVENT_ESTABLISHED, said->data,
                        c->active ? said->hello.size : 0);
}

void bond_on_connection(struct bond_member *m, DAT_EVENT_NUMBER event,
                        const DAT_CONNECTION_EVENT_DATA *d)
{
    struct bond_link *l = bond_link_find(m, d->ep_handle);
    struct bond_said said = {0};
    if (!l)
        return;
    struct bond_conn *c = l->conn;
    bool spoke = bond_hello_read(d->private_data, d->private_data_size, &said);
    if (event == DAT_CONNECTION_EVENT_ESTABLISHED) {
        if (l->state != BOND_LINK_CONNECTING)
            return;
        if (c->active && (!spoke || said.hello.members != c->b->hash))
            reject(l, &said, spoke);
        else
            established(l, &said);
        return;
    }
    bool began = l->state == BOND_LINK_CONNECTING;
    l->state = BOND_LINK_LEAVING;
    l->ended = true;
    /* a member that has never reached the peer may reach another bond */
    c->peer_gone |= began && spoke && said.hello.kind == BOND_GONE &&
                    c->path[m->index].joined;
    /* also if a lie of the peer has ended the link */
    if (c->state == BOND_CONNECTING)
        refused(c, event, &said, spoke);
    else if (began)
        bond_join_failed(c, m->index, spoke);
}
