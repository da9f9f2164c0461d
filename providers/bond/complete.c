/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions of the members. b->lock is held. */
#include "providers/bond/progress.h"
#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"
#include "providers/bond/transfer/transfer.h"

/* Is it an error of the consumer? All other errors are of the link. */
static bool is_consumers(DAT_DTO_COMPLETION_STATUS status)
{
    switch (status) {
    case DAT_DTO_ERR_LOCAL_LENGTH:
    case DAT_DTO_ERR_LOCAL_PROTECTION:
    case DAT_DTO_ERR_BAD_RESPONSE:
    case DAT_DTO_ERR_REMOTE_ACCESS:
    case DAT_DTO_ERR_REMOTE_RESPONDER:
        return true;
    default:
        return false;
    }
}

void bond_op_done(struct bond_op *op)
{
    struct bond_conn *c = op->conn;
    if (op->kind == BOND_OP_KEY)
        bond_key_read(c, op);
    if (op->request != BOND_NO_REQUEST && bond_conn_open(c)) {
        core_ep_lock(c->ep);
        struct bond_request *q = core_request_at(c->ep, op->request)->tp;
        q->under_way--;
        if (op->body)
            bond_body_done(c, op);
        bond_request_look(c, op->request);
        core_ep_unlock(c->ep);
    }
    bond_op_free(op);
}

static void fail(struct bond_op *op, DAT_DTO_COMPLETION_STATUS status)
{
    struct bond_conn *c = op->conn;
    if (bond_conn_open(c)) {
        core_ep_lock(c->ep);
        bond_request_fail(c, op->request, status);
        core_ep_unlock(c->ep);
    }
    bond_op_free(op);
}

/* The member completes ops in order: quiet ones that were posted before this
 * one are complete, unless the link is lost. */
static void on_request(struct bond_op *op, DAT_DTO_COMPLETION_STATUS status)
{
    struct bond_conn *c = op->conn;
    struct bond_link *l = op->link;
    bool fails = is_consumers(status) && op->request != BOND_NO_REQUEST;
    bool lost = status != DAT_DTO_SUCCESS && !fails;
    if (lost)
        bond_link_leave(l);
    for (struct bond_op *o = NULL; o != op;) {
        o = bond_op_next(l);
        if (lost)
            bond_op_lost(o);
        else if (fails && o == op)
            fail(o, status);
        else
            bond_op_done(o);
    }
    bond_issue(c);
}

/* The peer disconnects, and has told how many writes over the link it has.
 * Their requests are complete. The member may report these ops later, or never:
 * they stay in the link's list, of no request. */
static void take_arrived(struct bond_link *l)
{
    struct bond_conn *c = l->conn;
    if (!l->arrived || !c->ep || c->state == BOND_CLOSED)
        return;
    core_ep_lock(c->ep);
    for (struct bond_op *op = l->first; op; op = op->next) {
        if (op->kind != BOND_OP_WRITE || !op->quiet || op->mark > l->arrived ||
            op->request == BOND_NO_REQUEST)
            continue;
        struct bond_request *q = core_request_at(c->ep, op->request)->tp;
        q->under_way--;
        bond_request_look(c, op->request);
        op->request = BOND_NO_REQUEST;
    }
    core_requests_retire(c->ep);
    core_ep_unlock(c->ep);
}

static void on_dto(const DAT_DTO_COMPLETION_EVENT_DATA *d)
{
    struct bond_op *op = d->user_cookie.as_ptr;
    struct bond_link *l = op->link;
    l->alive = l->alive || d->status == DAT_DTO_SUCCESS;
    l->posted -= op->kind == BOND_OP_RECEIVE;
    if (op->kind != BOND_OP_RECEIVE) {
        on_request(op, d->status);
    } else if (d->status == DAT_DTO_SUCCESS) {
        l->asks = false;
        bond_on_message(l, &l->slot[op->place], d->transfered_length);
        take_arrived(l);
        bond_issue(l->conn); /* there may be credits, or the peer's table */
    }
    bond_news_send(l->conn);
}

/* Is its link gone? EPs of libdaplofa are freed later than their links. */
static bool is_late(struct bond_member *m,
                    const DAT_DTO_COMPLETION_EVENT_DATA *d)
{
    return !m->own && !bond_link_find(m, d->ep_handle);
}

/* libdaplofa reports a receive that was flushed as an extension's event. */
void bond_drain(struct bond_member *m)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d =
        &e.event_data.dto_completion_event_data;
    m->passed = m->unpolled = 0;
    while (dat_evd_dequeue(m->dto, &e) == DAT_SUCCESS)
        if (e.event_number != DAT_SOFTWARE_EVENT && !is_late(m, d))
            on_dto(d);
}
