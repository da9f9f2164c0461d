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

/* One direction of a connection: what sender and receiver tell each other.
 * Who writes what, and how often, decides the line; adjacent lines may be
 * fetched in pairs. */
#define SHM_APART (2 * CORE_CACHELINE)
struct shm_dir {
    /* seldom written, by the sender: */
    _Alignas(SHM_APART) _Atomic uint64_t backlogged; /* messages ever put into
                                                        the backlog */
    _Atomic uint64_t sample; /* address of SHM_MAGIC in its private memory */
    /* and by the receiver: */
    _Atomic uint32_t closed;    /* no access to the receiver's memory any more;
                                   only what has been sent is received yet */
    _Atomic uint32_t can_read;  /* it could read the sample */
    _Atomic uint32_t can_fence; /* its fences make those of the sender
                                   needless (core/fence.h) */
    _Atomic uint32_t announce;  /* 1 + the bit that the sender is to set in
                                   the receiver's doorbell; 0: none */
    _Atomic uint64_t bells;     /* of the sleepers that wait for it */
    /* written by the sender when requests become pending, or none is */
    _Alignas(SHM_APART) _Atomic uint32_t pending; /* it waits for the
                                     counters below: ring its doorbell */
    /* keys of the receiver's ranges that the sender is accessing: by posting
     * [0] and by fetching [1]. A range is not freed meanwhile. */
    _Alignas(SHM_APART) _Atomic uint32_t access[2];
    /* written by the receiver with each message */
    _Alignas(SHM_APART) _Atomic uint64_t head; /* lines free again */
    _Atomic uint64_t taken;                    /* messages received */
    _Atomic uint64_t posted;                   /* receives ever posted */
    _Atomic uint64_t min_capacity;             /* of the receives so far */
    _Atomic uint64_t failed; /* 1 + index of the message refused */
};
#define SHM_PLACE(member) (offsetof(struct shm_dir, member) / SHM_APART)
_Static_assert(SHM_PLACE(backlogged) == SHM_PLACE(bells) &&
                   SHM_PLACE(bells) < SHM_PLACE(pending) &&
                   SHM_PLACE(pending) < SHM_PLACE(access) &&
                   SHM_PLACE(access) < SHM_PLACE(head),
               "what is written by others or at other times lies apart");
_Static_assert(offsetof(struct shm_dir, head) % CORE_CACHELINE == 0 &&
                   offsetof(struct shm_dir, failed) -
                           offsetof(struct shm_dir, head) <
                       CORE_CACHELINE,
               "what is written with each message is one line");
_Static_assert(sizeof(struct shm_dir) % SHM_APART == 0, "so do directions");

#define SHM_MAX_DTOS 4096

#define SHM_LINE       64
#define SHM_RING_BYTES (SHM_PAGE > 32768 ? SHM_PAGE : 32768)
#define SHM_RING_LINES (SHM_RING_BYTES / SHM_LINE)
#define SHM_INLINE_MAX 8192 /* bytes that travel within the ring */

/* SHM_SKIP is no message: the next one lies at the ring's beginning. */
enum shm_kind { SHM_INLINE = 1, SHM_FETCH, SHM_IMMED, SHM_SKIP = 8 };

struct shm_head { /* of a message */
    uint8_t kind;
    uint8_t solicited;
    uint16_t nseg; /* SHM_FETCH: triplets in the payload */
    uint32_t length;
    uint32_t immed;
    uint32_t unused;
    uint64_t due; /* ns of the host: not seen before, 0: no link model */
};

/* In the ring, a line whose `seq` is its number (counted from 1) holds a
 * message; the receiver clears the first word of continuation lines so that
 * data never passes for one. See ring.h. */
struct shm_msg {
    _Atomic uint64_t seq;
    struct shm_head head;
    unsigned char payload[];
};
#define SHM_HEAD sizeof(struct shm_msg)

/* A slot of the backlog holds a message of that many bytes, or the list of
 * segments that a longer one is to be fetched from. */
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
/* Counters, the two rings, the two backlogs (untouched until used). */
#define SHM_SEGMENT_SIZE (SHM_PAGE + 2 * SHM_RING_BYTES + 2 * SHM_BACKLOG_BYTES)
_Static_assert(sizeof(struct shm_segment) <= SHM_PAGE, "counters: one page");
_Static_assert(offsetof(struct shm_segment, dir) % SHM_APART == 0,
               "apart from what both read");
_Static_assert(SHM_BACKLOG_BYTES % SHM_PAGE == 0, "whole pages");

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
