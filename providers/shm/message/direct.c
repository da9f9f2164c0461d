/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct messages and writes (core/extensions.h): the ring, and the peer's
 * memory, without what the others need. They are not offered with a cable or a
 * link model.
 */
#include "dapl_rail/platform/short_copy.h"
#include "providers/shm/memory/access.h"
#include "providers/shm/memory/copy.h"
#include "providers/shm/memory/peer.h"
#include "providers/shm/memory/remote.h"
#include "providers/shm/message/data.h"
#include "providers/shm/message/ring.h"
#include "providers/shm/shm.h"
#include "providers/shm/wakeup/announce.h"

/* -------------------------------------------------------------- sending --- */

/* Would a message of so many bytes be complete as soon as it is in the ring?
 * See is_received_for() in send.c. */
static inline bool has_receive(struct shm_conn *c, size_t bytes)
{
    if (c->tx_posted <= c->tx_index)
        c->tx_posted =
            atomic_load_explicit(&c->tx->posted, memory_order_acquire);
    return c->tx_posted > c->tx_index &&
           bytes <=
               atomic_load_explicit(&c->tx->min_capacity, memory_order_relaxed);
}

/* Word by word: the consumer has just stored them, and a load of more than one
 * store would wait until these are in the cache. */
static inline void write_head(unsigned char *to, const unsigned char *head,
                              size_t bytes)
{
    for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, head, sizeof word);
        __asm__ volatile("" : "+r"(word)); /* no vector of several */
        memcpy(to, &word, sizeof word);
        to += sizeof word;
        head += sizeof word;
    }
    if (bytes)
        memcpy(to, head, bytes);
}

/* Not inlined: rare. The receiver has ended the connection, perhaps before it
 * could see the message. */
static __attribute__((noinline)) void
queue_doubtful(struct core_ep *ep, size_t bytes, DAT_DTO_COOKIE cookie)
{
    const struct shm_conn *c = ep->tp;
    struct core_dto dto = {.op = CORE_SEND,
                           .cookie = cookie,
                           .flags = DAT_COMPLETION_SUPPRESS_FLAG,
                           .total = bytes,
                           .is_inline = true};
    struct shm_request p = {.posted = true, .index = c->tx_index - 1};
    shm_request_queue(ep, &dto, &p, false, DAT_DTO_SUCCESS);
}

/* The body of an aligned message is at least so long: shorter ones gain
 * nothing. */
#define ALIGNED_LEAST 1024u

/* Inlined in two variants. */
static inline __attribute__((always_inline)) bool
send_message(struct core_ep *ep, const void *head, size_t head_bytes,
             const void *body, size_t bytes, DAT_DTO_COOKIE cookie,
             bool aligned)
{
    size_t total = head_bytes + bytes;
    uint32_t pad = aligned ? -(uint32_t)(SHM_HEAD + head_bytes) % SHM_LINE : 0;
    uint64_t lines = shm_lines(pad + total);
    if (core_ep_state(ep) != DAT_EP_STATE_CONNECTED ||
        core_requests_pending(ep) || pad + total > SHM_INLINE_MAX)
        return false;
    struct shm_conn *c = ep->tp;
    if (atomic_load_explicit(&c->aborted, memory_order_relaxed))
        return false;
    if (!shm_backlog_empty(c) || !has_receive(c, total))
        return false;
    struct shm_msg *m = shm_ring_await(c, lines);
    if (!m)
        return false;
    m->head = (struct shm_head){.kind = aligned ? SHM_ALIGNED : SHM_INLINE,
                                .length = (uint32_t)total,
                                .pad = pad};
    write_head(m->payload + pad, head, head_bytes);
    if (aligned)
        overwrite_copy(m->payload + pad + head_bytes, body, bytes);
    else
        copy_message(m->payload + head_bytes, body, bytes);
    shm_ring_commit(c, m, lines);
    c->tx_index++;
    shm_notify_peer(c);
    shm_ring_prefetch_next(c, lines);
    if (__builtin_expect(
            atomic_load_explicit(&c->tx->closed, memory_order_relaxed), 0))
        queue_doubtful(ep, total, cookie);
    return true;
}

/* Not inlined: short messages do without. */
static __attribute__((noinline)) bool
send_aligned(struct core_ep *ep, const void *head, size_t head_bytes,
             const void *body, size_t bytes, DAT_DTO_COOKIE cookie)
{
    return send_message(ep, head, head_bytes, body, bytes, cookie, true);
}

bool shm_direct_send(DAT_EP_HANDLE ep, const void *head, size_t head_bytes,
                     const void *body, size_t bytes, DAT_DTO_COOKIE cookie)
{
    return bytes < ALIGNED_LEAST
               ? send_message(ep, head, head_bytes, body, bytes, cookie, false)
               : send_aligned(ep, head, head_bytes, body, bytes, cookie);
}

/* --------------------------------------------------------------- taking */

static const struct shm_msg *look(struct shm_conn *c, unsigned polls)
{
    const struct shm_msg *m;
    while (!(m = shm_rx_next(c)) && --polls)
        ;
    return m && shm_rx_skip(c, m) ? shm_rx_next(c) : m;
}

/* The message needs no receive of the EP: the oldest one counts as posted anew.
 * Only this thread posts others. */
static void count_taken(struct shm_conn *c)
{
    /* the sender must see the size of the receives before their number */
    if (!atomic_load_explicit(&c->rx->posted, memory_order_relaxed))
        shm_recv_publish(c);
    uint64_t base = atomic_load_explicit(&c->rq_base, memory_order_relaxed) - 1;
    atomic_store_explicit(&c->rq_base, base, memory_order_relaxed);
    c->rx_taken++;
    atomic_store_explicit(&c->rx->taken, c->rx_taken, memory_order_release);
    atomic_store_explicit(
        &c->rx->posted,
        atomic_load_explicit(&c->ep->rq_tail, memory_order_relaxed) - base,
        memory_order_release);
}

/* It has been taken. */
static inline void take_end(struct shm_conn *c, const struct shm_msg *m,
                            size_t payload)
{
    /* Mostly an answer follows: the peer, which polls for it, gives its line up
     * while this message is counted. Not also when the answer is sent: if the
     * peer has its line back by then, it gives it up twice. On the Xeon
     * ping-pongs of 8 B then took 1.4 times as long. */
    shm_ring_prefetch(c);
    shm_rx_release(c, m, payload);
    count_taken(c);
    atomic_store_explicit(&c->ep->received, true, memory_order_relaxed);
    shm_notify_sender(c);
}

/* Not inlined: short messages do without. */
static __attribute__((noinline)) bool
take_aligned(struct shm_conn *c, const struct shm_msg *m, struct shm_head h,
             dapl_take_message_t take_message, void *context)
{
    size_t payload = shm_carried(&h, SHM_INLINE_MAX);
    if (payload == SIZE_MAX ||
        !take_message(context, m->payload + h.pad, h.length))
        return false;
    take_end(c, m, payload);
    return true;
}

/* @p most: bytes of the receive that the message would go to. */
static bool take_next(struct shm_conn *c, uint64_t most, unsigned polls,
                      dapl_take_message_t take_message, void *context)
{
    const struct shm_msg *m = look(c, polls);
    if (!m || shm_in_backlog(c, m))
        return false;
    /* read once: the peer may change it */
    const struct shm_head h = m->head;
    atomic_signal_fence(memory_order_seq_cst);
    if (h.kind == SHM_ALIGNED && h.length <= most)
        return take_aligned(c, m, h, take_message, context);
    if (h.kind != SHM_INLINE || h.length > most || h.length > SHM_INLINE_MAX ||
        !take_message(context, m->payload, h.length))
        return false;
    take_end(c, m, h.length);
    return true;
}

/* Holds the lock while it looks, so that a message that comes meanwhile is
 * taken at once. */
bool shm_direct_take(DAT_EP_HANDLE handle, unsigned polls,
                     dapl_take_message_t take_message, void *context)
{
    struct core_ep *ep = handle;
    struct core_wqe *w;
    bool taken = false;
    if (ep->srq || !core_ep_trylock(ep))
        return false;
    struct shm_conn *c = ep->tp;
    if (c && core_ep_state(ep) == DAT_EP_STATE_CONNECTED && !c->deaf &&
        (w = core_recv_peek(ep, NULL)) && core_recv_evd_is_empty(ep))
        taken = take_next(c, w->total, polls, take_message, context);
    core_ep_unlock(ep);
    return taken;
}

/* -------------------------------------------------------------- writing --- */

/* Not behind unfinished requests, whose failure it must not outlive; and not
 * where another kind of copy may be faster. */
bool shm_direct_write(DAT_EP_HANDLE handle, const void *local, size_t bytes,
                      DAT_RMR_CONTEXT key, DAT_VADDR remote)
{
    struct core_ep *ep = handle;
    if (core_ep_state(ep) != DAT_EP_STATE_CONNECTED ||
        core_requests_pending(ep) || !bytes)
        return false;
    struct shm_conn *c = ep->tp;
    if (bytes >= c->sia->stream_least ||
        atomic_load_explicit(&c->aborted, memory_order_relaxed))
        return false;
    shm_peer_prefetch(c->peer, key, remote + bytes - 1);
    DAT_DTO_COMPLETION_STATUS status;
    const struct shm_map *m = shm_access_range(
        c, 0, remote, bytes, key, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, &status);
    if (!m)
        return false;
    char *at = shm_map_at(m, remote, bytes);
    bool written = true;
    if (at)
        shm_copy_in_order(at, local, bytes, c->wrote_from == local);
    else
        written = shm_remote_write_unmapped(c, local, bytes, remote);
    c->wrote_from = local;
    shm_access_leave(c, 0);
    return written;
}
