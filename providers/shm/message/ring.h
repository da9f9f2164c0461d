/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of messages of one direction of a connection.
 *
 * Messages lie in a ring of lines. A message that finds no room there goes to
 * the backlog, and so does every later one until the receiver has taken all of
 * the backlog. So a message in the ring is always older than one in the
 * backlog. The backlog has a slot for every request that an EP can have posted;
 * a slot has room for a list of segments, from which the receiver fetches the
 * data.
 *
 * Longer bodies begin with a line (SHM_ALIGNED): then a copy stores whole
 * lines, and need not read what the receiver has left there.
 *
 * When the ring is empty and a short message would reach the end of a page, or
 * any message the end of a stretch, it goes to the beginning of the ring
 * instead. So a connection with little traffic touches only one page or one
 * stretch, which stay in caches. A sender that is ahead of its receiver at the
 * end of a stretch goes on, and comes to use the whole ring: then the receiver
 * finds lines that have left the sender's own cache, and takes them sooner. On
 * the EPYC, messages of 4 KB and 8 KB in a row took 0.90 times as long as with
 * a ring of one stretch.
 */
#ifndef DAPL_SHM_RING_H
#define DAPL_SHM_RING_H

#include "dapl_rail/platform/long_copy.h"
#include "dapl_rail/platform/prefetch.h"
#include "providers/shm/connection.h"
#include "providers/shm/shm.h"

static inline uint64_t shm_lines(size_t payload)
{
    return (SHM_HEAD + payload + SHM_LINE - 1) / SHM_LINE;
}

static inline struct shm_msg *shm_line(char *ring, uint64_t at)
{
    return (void *)(ring + at % SHM_RING_LINES * SHM_LINE);
}

static inline struct shm_msg *shm_slot(char *backlog, uint64_t at)
{
    return (void *)(backlog + at % SHM_MAX_DTOS * SHM_SLOT);
}

/* ------------------------------------------------------------- sending --- */

/* Has the receiver taken all of the backlog? */
static inline bool shm_backlog_empty(struct shm_conn *c)
{
    if (c->tx_backlog_end &&
        atomic_load_explicit(&c->tx->taken, memory_order_acquire) >=
            c->tx_backlog_end)
        c->tx_backlog_end = 0;
    return !c->tx_backlog_end;
}

/* Publishes the message. The next line, where the receiver awaits the next
 * message, may hold old bytes that equal its number: clears them first. */
static inline void shm_ring_commit(struct shm_conn *c, struct shm_msg *m,
                                   uint64_t n)
{
    uint64_t end = c->tx_tail + n;
    struct shm_msg *next = shm_line(c->tx_ring, end);
    if (atomic_load_explicit(&next->seq, memory_order_relaxed) == end + 1)
        atomic_store_explicit(&next->seq, 0, memory_order_relaxed);
    atomic_store_explicit(&m->seq, c->tx_tail + 1, memory_order_release);
    __atomic_store_n(&c->tx_tail, end, __ATOMIC_RELAXED);
}

#define SHM_PAGE_LINES    (4096u / SHM_LINE)
#define SHM_SHORT_LINES   4u
#define SHM_STRETCH_LINES (32768u / SHM_LINE)

/* Continues at the beginning of the ring, if the ring is empty. Not with a link
 * model: shm_next_due must not have to look behind a skip. */
static inline void shm_ring_begin_anew(struct shm_conn *c)
{
    struct shm_msg *m = shm_line(c->tx_ring, c->tx_tail);
    c->tx_head = atomic_load_explicit(&c->tx->head, memory_order_acquire);
    if (c->tx_head != c->tx_tail || c->sia->clocks)
        return;
    m->head = (struct shm_head){.kind = SHM_SKIP};
    shm_ring_commit(c, m, SHM_RING_LINES - c->tx_tail % SHM_RING_LINES);
}

/* Would n lines leave no line in this page, or stretch, for a skip? */
static inline bool shm_ring_turns(const struct shm_conn *c, uint64_t n)
{
    uint64_t mask =
        (n <= SHM_SHORT_LINES ? SHM_PAGE_LINES : SHM_STRETCH_LINES) - 1;
    return (c->tx_tail & mask) + n > mask;
}

/* The receiver polls the next line: takes it from its cache while the message
 * is checked. Another thread may be sending: then it may be another line. */
static inline void shm_ring_prefetch(const struct shm_conn *c)
{
    uint64_t tail = __atomic_load_n(&c->tx_tail, __ATOMIC_RELAXED);
    prefetch_for_write(shm_line(c->tx_ring, tail));
}

/* Room for n lines in the ring, and for the first line of the next message; or
 * NULL. */
static inline struct shm_msg *shm_ring_reserve(struct shm_conn *c, uint64_t n)
{
    if (__builtin_expect(shm_ring_turns(c, n), 0))
        shm_ring_begin_anew(c);
    if (c->tx_tail + n - c->tx_head >= SHM_RING_LINES) {
        c->tx_head = atomic_load_explicit(&c->tx->head, memory_order_acquire);
        if (c->tx_tail + n - c->tx_head >= SHM_RING_LINES)
            return NULL;
    }
    return shm_line(c->tx_ring, c->tx_tail);
}

/* The same for a sender that is ahead of its receiver: waits for about as long
 * as a busy receiver takes for a few messages. Messages that go through the
 * backlog instead take longer. */
#define SHM_ROOM_LOOKS 64u
static inline struct shm_msg *shm_ring_await(struct shm_conn *c, uint64_t n)
{
    struct shm_msg *m = shm_ring_reserve(c, n);
    for (unsigned i = 0; !m && i < SHM_ROOM_LOOKS; i++) {
        busywait_relax();
        m = shm_ring_reserve(c, n);
    }
    return m;
}

/* After a message of n lines: fetches the lines of another one of this size,
 * but for the first, which the receiver polls. The receiver had read them last.
 * On the EPYC not after a longer message: the receiver is still reading that,
 * and the fetches would delay it. On the Xeon, ping-pongs of 4 KB took 0.85
 * times as long with these fetches; those of more lines delay 8 KB in a row. */
#define SHM_PREFETCH_LINES 40u
#define SHM_PREFETCH_MOST  68u
static inline void shm_ring_prefetch_next(const struct shm_conn *c, uint64_t n)
{
    if (n > SHM_PREFETCH_LINES) {
        if (!goes_ahead(n * SHM_LINE))
            return;
        n = n < SHM_PREFETCH_MOST ? n : SHM_PREFETCH_MOST;
    }
    if (c->tx_tail + n - c->tx_head > SHM_RING_LINES)
        return;
    for (uint64_t i = 1; i < n; i++)
        prefetch_for_write(shm_line(c->tx_ring, c->tx_tail + i));
}

/* There is always a free slot: one per unfinished request. */
static inline struct shm_msg *shm_backlog_reserve(struct shm_conn *c)
{
    return shm_slot(c->tx_backlog, c->tx_backlogged);
}

static inline void shm_backlog_commit(struct shm_conn *c)
{
    c->tx_backlog_end = c->tx_index + 1;
    atomic_store_explicit(&c->tx->backlogged, ++c->tx_backlogged,
                          memory_order_release);
}

/* ----------------------------------------------------------- receiving --- */

static inline uint64_t shm_rx_head(struct shm_conn *c)
{
    return atomic_load_explicit(&c->rx_head, memory_order_relaxed);
}

/* The next message, or NULL. Without ep->lock the answer is a hint. The
 * backlog's counter is read first: if it says that there is a message, then any
 * older one is seen in the ring. */
static inline struct shm_msg *shm_rx_next(struct shm_conn *c)
{
    uint64_t taken =
        atomic_load_explicit(&c->rx_backlogged, memory_order_relaxed);
    bool more =
        atomic_load_explicit(&c->rx->backlogged, memory_order_acquire) != taken;
    uint64_t head = shm_rx_head(c);
    struct shm_msg *m = shm_line(c->rx_ring, head);
    if (atomic_load_explicit(&m->seq, memory_order_acquire) == head + 1)
        return m;
    return more ? shm_slot(c->rx_backlog, taken) : NULL;
}

static inline bool shm_in_backlog(struct shm_conn *c, const struct shm_msg *m)
{
    return (const char *)m >= c->rx_backlog &&
           (const char *)m < c->rx_backlog + SHM_BACKLOG_BYTES;
}

/* Bytes before the payload. */
static inline uint32_t shm_pad(const struct shm_head *h)
{
    return h->kind == SHM_ALIGNED ? h->pad : 0;
}

/* Pad and payload of a message that carries its data; SIZE_MAX: they are more
 * than `most`, or the head is not valid. */
static inline size_t shm_carried(const struct shm_head *h, size_t most)
{
    uint32_t pad = shm_pad(h);
    return pad < SHM_LINE && h->length <= most - pad ? pad + h->length
                                                     : SIZE_MAX;
}

/* Skips to the beginning of the ring, if m says so. ep->lock is held. */
static inline bool shm_rx_skip(struct shm_conn *c, const struct shm_msg *m)
{
    if (m->head.kind != SHM_SKIP || shm_in_backlog(c, m))
        return false;
    uint64_t head = shm_rx_head(c);
    head += SHM_RING_LINES - head % SHM_RING_LINES;
    atomic_store_explicit(&c->rx_head, head, memory_order_relaxed);
    atomic_store_explicit(&c->rx->head, head, memory_order_release);
    return true;
}

/* Frees the place of a message. */
static inline void shm_rx_release(struct shm_conn *c, const struct shm_msg *m,
                                  size_t payload)
{
    if (shm_in_backlog(c, m)) {
        uint64_t taken =
            atomic_load_explicit(&c->rx_backlogged, memory_order_relaxed);
        atomic_store_explicit(&c->rx_backlogged, taken + 1,
                              memory_order_relaxed);
        return; /* `taken` tells the sender that the slot is free */
    }
    uint64_t head = shm_rx_head(c) + shm_lines(payload);
    atomic_store_explicit(&c->rx_head, head, memory_order_relaxed);
    atomic_store_explicit(&c->rx->head, head, memory_order_release);
}

#endif
