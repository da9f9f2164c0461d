/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a connection. */
#include <stdlib.h>
#include <sys/random.h>

#include "providers/bond/progress.h"
#include "providers/bond/connect/connect.h"
#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"
#include "providers/bond/message/message.h"

struct bond_conn *bond_conn_new(struct bond_ia *b, enum bond_state state)
{
    struct bond_conn *c = calloc(1, sizeof *c);
    if (!c || getrandom(&c->token, sizeof c->token, 0) != sizeof c->token) {
        free(c);
        return NULL;
    }
    c->b = b;
    c->state = state;
    c->id = ++b->last_id;
    c->lead = BOND_FIRST_MEMBER;
    c->waiting_end = &c->waiting;
    for (unsigned i = BOND_OPS; i-- > 0;) {
        c->ops[i].conn = c;
        bond_op_free(&c->ops[i]);
    }
    c->next = b->conns;
    b->conns = c;
    return c;
}

void bond_conn_free(struct bond_conn *c)
{
    struct bond_ia *b = c->b;
    struct bond_conn **at = &b->conns;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    bond_deliver_end(c);
    bond_zone_put(b, c->zone);
    free(c);
}

/* The first link, of an EP that connects or accepts. */
struct bond_link *bond_conn_attach(struct bond_conn *c, struct core_ep *ep)
{
    c->zone = ep->pz ? bond_zone_get(c->b, ep->pz->id) : NULL;
    struct bond_link *l =
        c->zone ? bond_link_new(c, BOND_FIRST_MEMBER, 1) : NULL;
    if (!l)
        return NULL;
    c->ep = ep;
    core_ep_lock(ep);
    c->next_body = c->next_lead = atomic_load(&ep->sq_tail);
    atomic_store(&ep->tp, c);
    core_ep_unlock(ep);
    c->state = BOND_CONNECTING;
    return l;
}

void bond_conn_detach(struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i])
            bond_link_drop(c->link[i]);
    if (c->ep)
        atomic_store(&c->ep->tp, NULL);
    c->ep = NULL;
    bond_zone_put(c->b, c->zone);
    c->zone = NULL;
}
