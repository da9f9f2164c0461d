/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: those of an EP leave one after the other, and land one latency
 * later in the same order. Until then they have no visible effect.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/core/segments.h"
#include "sim.h"

static struct core_request *request_at(const struct sim_conn *c,
                                       uint64_t number)
{
    return core_request_at(c->ep, number);
}

static struct sim_request *of(struct core_request *r)
{
    return (struct sim_request *)r->tp;
}

/* Does the request carry data to its target? */
static bool carries(enum core_op op)
{
    return op == CORE_SEND || op == CORE_WRITE || op == CORE_WRITE_IMMED;
}

/* An answer on its way back: the data that a request reads. */
struct answer {
    struct sim_conn *c, *from;
    uint64_t number;
};

/* ------------------------------------------------------------------ copies */

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* Copies from one list of segments to another that is at least as long. */
static void move(const struct core_wqe *to, const struct core_wqe *from)
{
    uint32_t i = 0;
    uint64_t used = 0;
    for (uint32_t f = 0; f < from->nseg; f++) {
        uint64_t left = from->seg[f].segment_length;
        uint64_t source = from->seg[f].virtual_address;
        while (left) {
            uint64_t n = to->seg[i].segment_length - used;
            n = n < left ? n : left;
            sim_move(at(to->seg[i].virtual_address + used), at(source), n);
            used += n;
            source += n;
            left -= n;
            if (used == to->seg[i].segment_length) {
                used = 0;
                i++;
            }
        }
    }
}

/* -------------------------------------------------------------- completion */

static void complete(struct sim_conn *c, uint64_t number,
                     DAT_DTO_COMPLETION_STATUS status)
{
    struct core_request *r = request_at(c, number);
    core_ep_lock(c->ep);
    r->done = true;
    r->status = status;
    core_requests_retire(c->ep);
    core_ep_unlock(c->ep);
    sim_ia_notify(c->ia);
    if (status != DAT_DTO_SUCCESS)
        sim_abort(c->ep);
    else if (!core_requests_pending(c->ep))
        sim_conn_idle(c);
}

/* Bytes that the network carries; 0 if the processor does. */
static uint64_t flying(const struct sim_conn *c, uint64_t bytes)
{
    return c->ia->rail->carrier == SIM_CARRIER_PROCESSOR ? 0 : bytes;
}

static bool may(const struct sim_conn *target, const struct sim_request *s,
                uint64_t bytes, int priv)
{
    const struct core_mr *mr = core_mr_find(target->ia->ia, s->remote_key);
    return mr && (mr->priv & priv) == priv && mr->pz_id == target->ep->pz->id &&
           (!mr->ep || mr->ep == target->ep) &&
           core_range_within(mr, s->remote_address, bytes);
}

/* Is the memory of the post still registered? */
static bool has_memory(const struct sim_conn *c, const struct core_request *r)
{
    for (uint32_t i = 0; i < r->w.nseg; i++)
        if (r->w.seg[i].segment_length &&
            !core_mr_find(c->ia->ia, r->w.seg[i].lmr_context))
            return false;
    return true;
}

/* Copies the bytes, if both ends still have the memory. */
static DAT_DTO_COMPLETION_STATUS take_answer(const struct answer *a,
                                             struct core_request *r)
{
    uint64_t old = of(r)->old;
    if (!has_memory(a->c, r))
        return DAT_DTO_ERR_LOCAL_PROTECTION;
    if (r->op != CORE_READ)
        core_scatter(r->w.nseg, r->w.seg, &old, sizeof old);
    else if (r->w.total &&
             !may(a->from, of(r), r->w.total, DAT_MEM_PRIV_REMOTE_READ_FLAG))
        return DAT_DTO_ERR_REMOTE_ACCESS;
    else
        core_scatter_by(sim_move, r->w.nseg, r->w.seg,
                        at(of(r)->remote_address), r->w.total);
    return DAT_DTO_SUCCESS;
}

static double latency(struct sim_place from, struct sim_place to)
{
    return sim_platform_latency(sim_running(), to.rail, from.node, to.node);
}

/* An answer takes its time, with or without data. If its sender ends meanwhile,
 * the request is flushed by the end of the connection. */
static void answered(void *arg)
{
    struct answer *a = arg;
    struct sim_conn *c = a->c;
    if (!c->ended && !a->from->ended)
        complete(c, a->number, take_answer(a, request_at(c, a->number)));
    sim_conn_drop(a->from);
    sim_conn_drop(c);
    free(a);
}

static void answer_left(void *arg)
{
    struct answer *a = arg;
    if (a->c->ended)
        answered(a);
    else
        sim_arrive(a->c->place, latency(a->from->place, a->c->place), answered,
                   a);
}

static void answer(struct sim_conn *c, uint64_t number, uint64_t bytes)
{
    struct answer *a = malloc(sizeof *a);
    if (!a) {
        complete(c, number, DAT_DTO_ERR_TRANSPORT);
        return;
    }
    *a = (struct answer){c, c->peer, number};
    sim_conn_hold(c);
    sim_conn_hold(a->from);
    sim_send(&a->from->flow, a->from->place, c->place, flying(c, bytes),
             answer_left, a);
}

/* ----------------------------------------------------------------- landing */

static void refuse(struct sim_conn *c, DAT_DTO_COMPLETION_STATUS status)
{
    complete(c, c->landing, status);
}

/* Writes the data of a request. */
static void write_there(const struct sim_conn *c, struct core_request *r)
{
    void *to = at(of(r)->remote_address);
    core_gather_by(sim_move, to, r->w.nseg, r->w.seg);
    if (c->ia->rail->carrier == SIM_CARRIER_PROCESSOR)
        sim_carried(to, r->w.total);
}

/* Receives a message; false: there is no receive. */
static bool land_send(struct sim_conn *c, struct core_request *r)
{
    struct core_ep *ep = c->peer->ep;
    struct core_wqe copy;
    bool immed = r->op == CORE_WRITE_IMMED;
    core_ep_lock(ep);
    const struct core_wqe *w = core_recv_peek(ep, &copy);
    if (!w) {
        core_ep_unlock(ep);
        return false;
    }
    bool fits = immed || r->w.total <= w->total;
    if (immed)
        write_there(c, r);
    else if (fits)
        move(w, &r->w);
    core_recv_done(ep, w, fits ? DAT_DTO_SUCCESS : DAT_DTO_ERR_LOCAL_LENGTH,
                   fits ? r->w.total : 0,
                   r->w.flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG,
                   immed ? &r->immed : NULL);
    core_ep_unlock(ep);
    sim_ia_notify(c->peer->ia);
    complete(c, c->landing,
             fits ? DAT_DTO_SUCCESS : DAT_DTO_ERR_REMOTE_RESPONDER);
    return true;
}

static void land_atomic(struct sim_conn *c, struct core_request *r)
{
    struct sim_request *s = of(r);
    uint64_t *word = at(s->remote_address);
    s->old = *word;
    if (r->op == CORE_FETCH_ADD)
        *word += s->operand;
    else if (s->old == s->compare)
        *word = s->operand;
    answer(c, c->landing, 0);
}

static bool land_remote(struct sim_conn *c, struct core_request *r)
{
    struct sim_conn *target = c->peer;
    struct sim_request *s = of(r);
    bool atomic = r->op == CORE_FETCH_ADD || r->op == CORE_CMP_SWAP;
    int priv = atomic               ? CORE_PRIV_REMOTE_ATOMIC
               : r->op == CORE_READ ? (int)DAT_MEM_PRIV_REMOTE_READ_FLAG
                                    : (int)DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
    uint64_t bytes = atomic ? sizeof s->old : r->w.total;
    if (bytes && !may(target, s, bytes, priv)) {
        refuse(c, DAT_DTO_ERR_REMOTE_ACCESS);
        return true;
    }
    if (r->op == CORE_WRITE_IMMED)
        return land_send(c, r);
    if (atomic) {
        land_atomic(c, r);
    } else if (r->op == CORE_READ) {
        answer(c, c->landing, bytes);
    } else {
        write_there(c, r);
        sim_ia_notify(target->ia);
        complete(c, c->landing, DAT_DTO_SUCCESS);
    }
    return true;
}

static bool can_land(const struct sim_conn *c)
{
    return !c->ended && c->landing < c->arrived && c->peer && !c->peer->ended &&
           core_ep_state(c->peer->ep) == DAT_EP_STATE_CONNECTED;
}

/* Lands a request; false: there is no receive for it. */
static bool land(struct sim_conn *c, struct core_request *r)
{
    if (carries(r->op) && !has_memory(c, r)) {
        refuse(c, DAT_DTO_ERR_LOCAL_PROTECTION);
        return true;
    }
    return r->op == CORE_SEND ? land_send(c, r) : land_remote(c, r);
}

void sim_land(struct sim_conn *c)
{
    sim_conn_hold(c);
    while (can_land(c)) {
        if (!land(c, request_at(c, c->landing)))
            break;
        c->landing++;
    }
    sim_conn_drop(c);
}

/* ----------------------------------------------------------------- leaving */

static void leave(struct sim_conn *c);

static void arrived(void *arg)
{
    struct sim_conn *c = arg;
    c->arrived++;
    sim_land(c);
    sim_conn_drop(c);
}

static void left(void *arg)
{
    struct sim_conn *c = arg;
    c->leaving = false;
    if (!c->ended) {
        c->left++;
        sim_conn_hold(c);
        sim_arrive(c->peer->place, latency(c->place, c->peer->place), arrived,
                   c);
        leave(c);
    }
    sim_conn_drop(c);
}

static void leave(struct sim_conn *c)
{
    if (c->leaving || c->left == c->posted)
        return;
    const struct core_request *r = request_at(c, c->left);
    c->leaving = true;
    sim_conn_hold(c);
    sim_send(&c->flow, c->place, c->peer->place,
             carries(r->op) ? flying(c, r->w.total) : 0, left, c);
}

static double cost_of(const struct core_dto *dto)
{
    const struct sim_message *m = &sim_running()->message;
    bool is_inline = carries(dto->op) && (double)dto->total <= m->inline_bytes;
    return is_inline && m->inline_bytes > 0 ? m->post_inline : m->post;
}

/* The processor itself carries the bytes, in either direction. */
static void carry(const struct sim_conn *c, const struct core_dto *dto)
{
    const struct sim_rail *rail = c->ia->rail;
    if (rail->carrier == SIM_CARRIER_PROCESSOR &&
        (carries(dto->op) || dto->op == CORE_READ))
        sim_carry(dto->total, rail->limit.rate);
}

DAT_RETURN sim_post(struct core_ep *ep, const struct core_dto *dto)
{
    struct sim_conn *c = sim_conn(ep);
    core_ep_lock(ep);
    struct sim_request *s = of(core_request_queue(ep, dto));
    core_ep_unlock(ep);
    *s = (struct sim_request){.remote_address = dto->remote_address,
                              .remote_key = dto->remote_key,
                              .operand = dto->operand,
                              .compare = dto->compare};
    sim_conn_hold(c);
    sim_busy(cost_of(dto));
    carry(c, dto);
    c->posted++;
    if (!c->ended)
        leave(c);
    sim_conn_drop(c);
    return DAT_SUCCESS;
}

void sim_recv_posted(struct core_ep *ep)
{
    struct sim_conn *c = sim_conn(ep);
    if (c && c->peer && !c->ended)
        sim_land(c->peer);
}
