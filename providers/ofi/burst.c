/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts. A message leaves at once. A consumer may post many messages without a
 * poll between them. Then TCP collects the later messages (TCP_CORK) until the
 * consumer polls. The collected messages share packets, and the receiver reads
 * them by fewer calls. TCP collects only while all consumers poll and none
 * sleeps. If a consumer stops polling, the IA's thread ends its burst after a
 * few ms.
 *
 * In a burst, a send that may grow (core/extensions.h) is held until it is
 * followed by another request or the burst ends. So many short messages cost
 * libfabric and the network as much as one.
 *
 * A request with an event is complete when the peer has acknowledged it. The
 * requests of a burst have one acknowledgement: a marker follows them, an empty
 * RDMA write, which the peer acknowledges.
 */
#include <linux/tcp.h>
#include <sys/socket.h>

#include "ofi.h"

#define ALONE 4 /* messages of a burst that leave at once */

static int cork(const struct ofi_conn *c, int on)
{
    return setsockopt(c->fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on);
}

void ofi_burst_posts(struct ofi_conn *c)
{
    struct ofi_ia *oia = c->oia;
    uint64_t polls = atomic_load_explicit(&oia->polls, memory_order_relaxed);
    if (c->burst_polls != polls)
        c->burst = 0;
    c->burst_polls = polls;
    if (c->corked || c->burst++ < ALONE || c->fd < 0 ||
        !ofi_consumers_poll(oia) || cork(c, 1))
        return;
    c->corked = true;
    c->next_corked = atomic_load(&oia->corked);
    while (!atomic_compare_exchange_weak(&oia->corked, &c->next_corked, c))
        ;
    /* the IA's thread looks once more when it has decided to sleep */
    if (!ofi_consumers_poll(oia))
        ofi_thread_wake(oia);
}

/* The segment follows the last one of the request. */
static bool continues(const struct core_wqe *w, const DAT_LMR_TRIPLET *seg)
{
    if (!w->nseg)
        return false;
    const DAT_LMR_TRIPLET *last = &w->seg[w->nseg - 1];
    return seg->lmr_context == last->lmr_context &&
           seg->virtual_address == last->virtual_address + last->segment_length;
}

bool ofi_append(struct core_ep *ep, const DAT_LMR_TRIPLET *seg)
{
    core_ep_lock(ep);
    struct ofi_conn *c = ep->tp;
    struct core_wqe *w = NULL;
    if (c && c->open && c->held != OFI_NONE_HELD)
        w = &core_request_at(ep, c->held)->w;
    bool fits =
        w && continues(w, seg) &&
        w->total + seg->segment_length <= ep->o.ia->can.max_message_size;
    if (fits) {
        w->seg[w->nseg - 1].segment_length += seg->segment_length;
        w->total += seg->segment_length;
    }
    core_ep_unlock(ep);
    return fits;
}

void ofi_bursts_end(struct ofi_ia *oia)
{
    if (!atomic_load(&oia->corked))
        return;
    struct ofi_conn *c = atomic_exchange(&oia->corked, NULL), *next;
    for (; c; c = next) {
        core_ep_lock(c->ep);
        next = c->next_corked;
        if (c->held != OFI_NONE_HELD && c->open) {
            c->held = OFI_NONE_HELD;
            oia->issue(c);
        }
        c->corked = false;
        ofi_burst_mark(c);
        if (c->stuck)
            ofi_thread_wake(oia);
        cork(c, 0);
        core_ep_unlock(c->ep);
    }
}

/* -------------------------------------------------------------- markers --- */

static struct ofi_marker *free_marker(struct ofi_conn *c)
{
    for (unsigned i = 0; i < OFI_MARKERS; i++)
        if (!c->markers[i].under_way)
            return &c->markers[i];
    return NULL;
}

void ofi_burst_mark(struct ofi_conn *c)
{
    struct ofi_marker *m;
    if (!c->unmarked || c->corked || !c->open || !(m = free_marker(c)))
        return;
    *m = (struct ofi_marker){.op = {c, OFI_MARKER}, .end = c->next_request};
    struct fi_rma_iov there = {.addr = c->peer_control, .key = OFI_CONTROL_KEY};
    struct fi_msg_rma msg = {
        .rma_iov = &there, .rma_iov_count = 1, .context = &m->op};
    ssize_t err =
        fi_writemsg(c->fid, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    m->under_way = !err;
    c->unmarked = err == -FI_EAGAIN;
    if (c->unmarked)
        c->stuck = true;
    else if (err)
        ofi_break_off(c);
}

void ofi_burst_marked(struct ofi_conn *c, struct ofi_op *op)
{
    struct ofi_marker *m = (void *)op; /* its first member */
    uint64_t at = atomic_load(&c->ep->sq_head);
    m->under_way = false;
    for (; at < m->end; at++) {
        struct core_request *r = core_request_at(c->ep, at);
        struct ofi_request *p = (void *)r->tp;
        if (p->waits & OFI_WAITS_MARKER) {
            p->waits &= ~OFI_WAITS_MARKER;
            r->done |= !p->waits;
        }
    }
}
