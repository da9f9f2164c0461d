/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection segment: one memfd per connection, made by the active side.
 * Per direction a ring of messages, a backlog, and the counters by which sender
 * and receiver tell each other how far they are (ring.h has the rules).
 */
#ifndef DAPL_SHM_SEGMENT_H
#define DAPL_SHM_SEGMENT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "providers/core/core.h"
#include "providers/shm/memory/memfd.h"

struct shm_conn;

/* The counters of one direction of a connection. Members lie on one line if the
 * same side writes them, and about as often; processors may fetch lines in
 * pairs, so the lines lie two apart. */
#define SHM_APART (2 * CORE_CACHELINE)
struct shm_dir {
    /* written seldom, by the sender: */
    _Alignas(SHM_APART) _Atomic uint64_t backlogged; /* messages ever put into
                                                        the backlog */
    _Atomic uint64_t sample; /* address of SHM_MAGIC in its private memory */
    /* … and by the receiver: */
    _Atomic uint32_t closed;    /* the sender may no longer access the
                                   receiver's memory; only messages sent before
                                   are received */
    _Atomic uint32_t can_read;  /* the receiver could read the sample */
    _Atomic uint32_t can_fence; /* the receiver's fences let the sender do
                                   without (core/fence.h) */
    _Atomic uint32_t announce;  /* 1 + the bit that the sender must set in the
                                   receiver's doorbell; 0: none */
    _Atomic uint64_t bells;     /* of threads that sleep for its messages */
    _Atomic uint64_t min_capacity; /* of the receives so far */
    _Atomic uint64_t failed;       /* 1 + index of the message that failed */
    /* written by the sender when it begins or ceases to wait for the counters
     * below: then the receiver must ring its doorbell */
    _Alignas(SHM_APART) _Atomic uint32_t pending;
    /* written by the sender: key of the receiver's range that it is accessing,
     * by a post [0] and by fetching a message [1]. Meanwhile the receiver does
     * not free the range. */
    _Alignas(SHM_APART) _Atomic uint32_t access[2];
    _Atomic uint64_t counted; /* counted writes that the sender has carried
                                 out */
    /* written by the receiver with each message; the sender reads them only
     * when what it has seen of them runs out */
    _Alignas(SHM_APART) _Atomic uint64_t head; /* lines free again */
    _Atomic uint64_t taken;                    /* messages received */
    _Atomic uint64_t posted;                   /* receives ever posted */
};
#define SHM_PLACE(member) (offsetof(struct shm_dir, member) / SHM_APART)
_Static_assert(SHM_PLACE(backlogged) == SHM_PLACE(failed) &&
                   SHM_PLACE(failed) < SHM_PLACE(pending) &&
                   SHM_PLACE(pending) < SHM_PLACE(access) &&
                   SHM_PLACE(access) < SHM_PLACE(head),
               "other writers, other lines");
_Static_assert(offsetof(struct shm_dir, head) % CORE_CACHELINE == 0 &&
                   offsetof(struct shm_dir, posted) -
                           offsetof(struct shm_dir, head) <
                       CORE_CACHELINE,
               "one line per message received");
_Static_assert(sizeof(struct shm_dir) % SHM_APART == 0,
               "directions share no line");

#define SHM_MAX_DTOS 4096

#define SHM_LINE 64
/* Whole pages. How much of it is in use: ring.h. On the Xeon, messages of 1 to
 * 8 KB in a row took as long as with 512 KB, and 1.3 to 1.45 times as long with
 * 128 KB. */
#define SHM_RING_BYTES (256u << 10)
#define SHM_RING_LINES (SHM_RING_BYTES / SHM_LINE)
/* Bytes that travel within the ring: 8 KB and a header of the consumer's. */
#define SHM_INLINE_MAX (8192 + 128)

/* SHM_ALIGNED: as SHM_INLINE, but `pad` bytes lie before the payload. SHM_SKIP:
 * no message; the next one lies at the beginning of the ring. */
enum shm_kind {
    SHM_INLINE = 1,
    SHM_FETCH,
    SHM_IMMED,
    SHM_ALIGNED,
    SHM_SKIP = 8
};

struct shm_head { /* of a message */
    uint8_t kind;
    uint8_t solicited;
    uint16_t nseg; /* SHM_FETCH: triplets in the payload */
    uint32_t length;
    uint32_t immed;
    uint32_t pad; /* SHM_ALIGNED: less than a line */
    uint64_t due; /* ns of the host: not received before; 0: no link model */
};

/* The line of the ring where the receiver awaits a message holds it if its
 * `seq` is its number, counted from 1. See ring.h. */
struct shm_msg {
    _Atomic uint64_t seq;
    struct shm_head head;
    unsigned char payload[];
};
#define SHM_HEAD sizeof(struct shm_msg)

/* Payload of a slot of the backlog: a message, or the list of segments from
 * which a longer one is fetched. */
#define SHM_SLOT_MAX (CORE_MAX_IOV * sizeof(DAT_LMR_TRIPLET))
#define SHM_SLOT                                                               \
    ((SHM_HEAD + SHM_SLOT_MAX + CORE_CACHELINE - 1) / CORE_CACHELINE *         \
     CORE_CACHELINE)
#define SHM_BACKLOG_BYTES (SHM_MAX_DTOS * SHM_SLOT)

struct shm_segment {
    uint64_t magic;
    uint32_t version;
    struct shm_dir dir[2]; /* [0]: sent by the active side */
};
/* Counters, two rings, two backlogs (what is not used takes no memory). */
#define SHM_SEGMENT_SIZE (SHM_PAGE + 2 * SHM_RING_BYTES + 2 * SHM_BACKLOG_BYTES)
_Static_assert(sizeof(struct shm_segment) <= SHM_PAGE, "counters: one page");
_Static_assert(offsetof(struct shm_segment, dir) % SHM_APART == 0,
               "apart from magic and version");
_Static_assert(SHM_RING_BYTES % SHM_PAGE == 0 &&
                   SHM_BACKLOG_BYTES % SHM_PAGE == 0,
               "whole pages");

/* Reserves the addresses at which the segments of this connection's memory will
 * be mapped, and sets all pointers into them. 0 or -1. */
int shm_segment_place(struct shm_conn *c, int side);
/* Makes (active side) or maps (c->segment_fd) the segment. 0 or -1. */
int shm_segment_create(struct shm_conn *c);
int shm_segment_map(struct shm_conn *c);
/* Finds out what each side can do for the other; c->peer is set. */
void shm_segment_agree(struct shm_conn *c);
/* Unmaps it; its addresses stay readable, as zeros. */
void shm_segment_unmap(struct shm_conn *c);

#endif
