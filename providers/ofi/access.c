/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers in memory that is deregistered. libfabric's tcp moves an RDMA piece by
 * piece and does not say when it begins or ends, so the two ends tell each
 * other:
 *
 *   initiator                        owner of the memory
 *   OFI_ENTER, its first RDMA -----> it is inside
 *                                    deregisters a range: nobody enters it
 *          <--------------- OFI_ASK
 *   OFI_LEFT --------------------->  what was under way is over
 *
 * The initiator answers when the reads that it had posted before the question
 * are complete. Its writes went before the answer. An answer with OFI_ENTER
 * says that later reads are under way, of other ranges.
 *
 * An initiator that was asked says OFI_LEFT unasked for a while, with messages
 * that it sends when no read is under way: an owner that deregisters after each
 * transfer, when it has been told of its end, needs not ask then.
 */
#include "ofi.h"

#define VOLUNTEERS 32 /* messages that may carry OFI_LEFT unasked */

/* ----------------------------------------------------------- initiator --- */

ssize_t ofi_access_enter(struct ofi_conn *c)
{
    ssize_t err = 0;
    if (c->oia->talks && !c->inside)
        err = ofi_say(c, OFI_ENTER);
    c->inside = !err;
    return err;
}

static bool reads_before(const struct ofi_conn *c, uint64_t end)
{
    for (uint64_t at = atomic_load(&c->ep->sq_head); at < end; at++) {
        const struct core_request *r = core_request_at(c->ep, at);
        if (r->op == CORE_READ && !r->done)
            return true;
    }
    return false;
}

void ofi_access_answer(struct ofi_conn *c)
{
    if (!c->asked_of || !c->fid || reads_before(c, c->asked_at))
        return;
    bool stays = c->reads > 0;
    if (ofi_say(c, OFI_LEFT | (stays ? OFI_ENTER : 0))) {
        c->stuck = true;
        ofi_thread_wake(c->oia);
        return;
    }
    c->asked_of = false;
    c->inside = stays;
    c->volunteers = VOLUNTEERS;
}

bool ofi_access_leaves(const struct ofi_conn *c, const struct core_dto *dto)
{
    return dto->op == CORE_SEND && c->inside && c->volunteers && !c->reads;
}

void ofi_access_sent(struct ofi_conn *c, uint64_t data)
{
    if (data & OFI_IMMED || !(data & OFI_LEFT))
        return;
    c->inside = false;
    c->volunteers--;
}

/* --------------------------------------------------------------- owner --- */

void ofi_access_heard(struct ofi_conn *c, uint64_t data)
{
    if (data & OFI_LEFT) {
        c->left = c->asked;
        c->asked = 0;
    }
    if (data & (OFI_LEFT | OFI_ENTER))
        c->peer_inside = data & OFI_ENTER;
    if (!(data & OFI_ASK) || !c->ep)
        return;
    core_ep_lock(c->ep);
    c->asked_of = true;
    c->asked_at = c->next_request;
    ofi_access_answer(c);
    core_ep_unlock(c->ep);
}

/* May the peer of this connection still access it? Asks it, once. */
static bool ask(struct ofi_conn *c, uint64_t withdrawal)
{
    if (!c->fid || !c->peer_inside || c->left >= withdrawal)
        return false;
    if (!c->asked) {
        core_ep_lock(c->ep);
        if (!ofi_say(c, OFI_ASK))
            c->asked = c->oia->withdrawals;
        core_ep_unlock(c->ep);
    }
    return true;
}

bool ofi_access_ask(struct ofi_ia *oia, uint64_t withdrawal)
{
    bool any = false;
    pthread_mutex_lock(&oia->cq_lock);
    for (struct ofi_conn *c = oia->conns; c; c = c->next)
        any |= ask(c, withdrawal);
    pthread_mutex_unlock(&oia->cq_lock);
    return any;
}

/* ------------------------------------------------- requests of this end --- */

static bool names(const struct core_request *r, uint32_t key)
{
    for (uint32_t i = 0; i < r->w.nseg && !r->done; i++)
        if (r->w.seg[i].lmr_context == key)
            return true;
    return false;
}

bool ofi_access_own(struct ofi_ia *oia, uint32_t key)
{
    bool any = false;
    for (struct ofi_conn *c = oia->conns; c && !any; c = c->next) {
        if (!c->fid || !core_requests_pending(c->ep))
            continue;
        core_ep_lock(c->ep);
        uint64_t end = atomic_load(&c->ep->sq_tail);
        for (uint64_t at = atomic_load(&c->ep->sq_head); at != end; at++)
            any |= names(core_request_at(c->ep, at), key);
        core_ep_unlock(c->ep);
    }
    return any;
}
