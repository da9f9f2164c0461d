/* SPDX-License-Identifier: BSD-3-Clause */
/* The looks of the first member's thread at a connection: it frees ended links,
 * gives the consumer its event, and ends the connection when that is due. */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "providers/bond/progress.h"
#include "providers/bond/connect/connect.h"
#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"
#include "providers/bond/transfer/transfer.h"

#define NEVER     UINT64_MAX
#define SETTLE_NS BOND_MS /* between looks while it begins, ends or waits */
#define ASK_NS    (10 * BOND_MS) /* between two pings of a disconnecting side */
#define RETURN_NS (1000 * BOND_MS) /* for a member to return */

static bool is_up(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i] && c->link[i]->state == BOND_LINK_UP)
            return true;
    return false;
}

static bool has_leaving(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i] && c->link[i]->state == BOND_LINK_LEAVING)
            return true;
    return false;
}

static bool has_links(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->link[i])
            return true;
    return false;
}

/* Gives the consumer its event when all links have joined that can. No link can
 * join while the peer is unknown. */
static void look_joining(struct bond_conn *c, uint64_t now)
{
    if (!is_up(c) && !c->peer_id) {
        bond_conn_end(c,
                      c->active ? DAT_CONNECTION_EVENT_NON_PEER_REJECTED
                                : DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR,
                      NULL, 0);
        return;
    }
    if (!bond_join_complete(c) && is_up(c) && !c->bye && now < c->join_until)
        return;
    if (c->active)
        bond_say_to_all(c, BOND_READY);
    if (core_ep_poll(c->ep)) {
        bond_conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
        return;
    }
    c->state = BOND_CONNECTED;
    core_ep_established(c->ep, c->event_data, c->event_size);
    bond_deliver(c);
    bond_issue(c);
}

static void reap_links(struct bond_conn *c, uint64_t now)
{
    for (unsigned i = 0; i < c->b->params.count; i++) {
        struct bond_link *l = c->link[i];
        if (!l || l->state != BOND_LINK_LEAVING)
            continue;
        bond_link_force(l, now);
        if (l->posted)
            bond_drain(l->m);
        if (!bond_link_over(l, now))
            continue;
        bond_path_ended(l);
        bond_link_drop(l);
    }
}

/* Are all requests complete, and all messages delivered? A message without a
 * completion event is complete before the peer has it. */
static bool is_drained(const struct bond_conn *c)
{
    return !core_requests_pending(c->ep) && c->peer_delivered == c->next_number;
}

/* Pings the peer: its answer tells how many messages it has delivered. */
static void ask_delivered(struct bond_conn *c, uint64_t now)
{
    struct bond_link *l = bond_usable_link(c, c->lead);
    if (l && c->peer_delivered != c->next_number && now >= c->ask_at &&
        bond_say(l, BOND_PING, NULL, 0))
        c->ask_at = now + ASK_NS;
}

/* Sends BOND_BYE. Ends the links when that message is complete. */
static void look_draining(struct bond_conn *c, uint64_t now)
{
    if (!c->bye_until) {
        bond_say_to_all(c, BOND_BYE);
        c->bye_until = now + BOND_JOIN_NS;
    }
    if (c->free_count == BOND_OPS || now >= c->bye_until)
        bond_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
}

/* A bond may have a member of this host only that does not reach the peer. */
static bool is_peer_of_host(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (c->b->member[i].of_host && c->path[i].joined)
            return true;
    return false;
}

/* Has the peer's process ended? It is of this host. A process of another PID
 * namespace counts as ended. */
static bool has_ended(pid_t pid)
{
    struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0),
                       .events = POLLIN};
    if (p.fd < 0)
        return errno == ESRCH || errno == EINVAL;
    bool ended = poll(&p, 1, 0) == 1;
    close(p.fd);
    return ended;
}

/* Is no link up, and will none be? */
static bool is_cut_off(struct bond_conn *c, uint64_t now)
{
    if (is_up(c))
        c->cut_off = 0;
    else if (!c->cut_off)
        c->cut_off = now;
    if (!c->cut_off)
        return false;
    return c->peer_gone || !c->peer_id || now - c->cut_off > RETURN_NS ||
           (is_peer_of_host(c) && has_ended(c->peer_pid));
}

/* Has all come that the lead has to report? BOND_BYE may come earlier over
 * another link, and the lead's may be lost. */
static bool is_lead_heard(struct bond_conn *c, uint64_t now)
{
    const struct bond_link *l = c->lead < BOND_NONE ? c->link[c->lead] : NULL;
    if (!c->bye_until)
        c->bye_until = now + BOND_JOIN_NS;
    return !l || l->bye || now >= c->bye_until;
}

static void look_connected(struct bond_conn *c, uint64_t now)
{
    if (atomic_load(&c->aborted)) {
        bond_say_to_all(c, BOND_BREAK);
        bond_conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
    } else if (c->bye) {
        if (is_lead_heard(c, now))
            bond_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
    } else if (c->state == BOND_DRAINING && is_drained(c)) {
        look_draining(c, now);
    } else if (is_cut_off(c, now)) {
        bond_conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
    } else {
        if (c->state == BOND_DRAINING)
            ask_delivered(c, now);
        bond_failover_look(c, now);
    }
}

uint64_t bond_conn_look(struct bond_conn *c, uint64_t now)
{
    reap_links(c, now);
    if (c->state == BOND_JOINING)
        look_joining(c, now);
    if (c->state == BOND_CONNECTED || c->state == BOND_DRAINING)
        look_connected(c, now);
    if (c->state == BOND_LEAVING) {
        reap_links(c, now);
        if (!has_links(c))
            bond_conn_finish(c);
    }
    if (c->state == BOND_CLOSED && !c->ep && !c->held) {
        bond_conn_free(c);
        return NEVER;
    }
    if (c->state == BOND_CLOSED || c->state == BOND_OFFERED)
        return NEVER;
    bool joins = c->state >= BOND_JOINING && c->state <= BOND_DRAINING;
    uint64_t next = joins ? bond_join_look(c, now) : 0;
    bool soon = c->state != BOND_CONNECTED || c->bye || bond_waits(c) ||
                bond_link_silent(c) || has_leaving(c) || c->cut_off;
    return soon ? now + SETTLE_NS : next;
}
