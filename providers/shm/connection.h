/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection: of what all parts of the provider know. */
#ifndef DAPL_SHM_CONNECTION_H
#define DAPL_SHM_CONNECTION_H

#include "providers/core/core.h"
#include "providers/core/fence.h"
#include "providers/shm/memory/copy.h"
#include "providers/shm/message/segment.h"

struct shm_ia;
struct shm_peer;

enum shm_conn_state {
    SHM_CONN_CONNECTING, /* active: no room in the listener's queue yet */
    SHM_CONN_REQUESTED,  /* active: waits for the reply */
    SHM_CONN_ARRIVING,   /* passive: waits for the request */
    SHM_CONN_OFFERED,    /* passive: the consumer has a CR */
    SHM_CONN_ACCEPTED,   /* passive: waits for the confirmation */
    SHM_CONN_CONNECTED,
    SHM_CONN_DRAINING,  /* a graceful disconnect waits for pending sends */
    SHM_CONN_LINGERING, /* the peer has disconnected; its messages still
                           arrive */
    SHM_CONN_ENDING,    /* shut down, but the peer is still in an access */
    SHM_CONN_CLOSED,
};

/* ep->tp, or cr->tp before it is accepted. Its memory is never given back
 * (connect/pool.c). */
struct shm_conn {
    struct shm_conn *next; /* shm_ia.conns */
    struct core_ep *ep;    /* NULL: none yet */
    struct core_sp *sp;    /* SHM_CONN_ARRIVING, SHM_CONN_OFFERED */
    struct shm_ia *sia;
    int side; /* 0 active, 1 passive */
    enum shm_conn_state state;
    atomic_bool aborted; /* broken by a failed request or receive: nothing is
                            posted any more */
    uint32_t cuts;       /* of the rail's cable, when it began */
    bool lost;           /* a mute cable has lost a request: all later ones are
                            lost, too */
    int fd;              /* socket to the peer's manager */
    uint64_t deadline;   /* ns; UINT64_MAX: none */
    uint64_t ends_since; /* ns: when it began to linger, or to end */
    int segment_fd;
    uint32_t ep_id, peer_ep_id, peer_pz_id;
    unsigned char private_data[CORE_MAX_PRIVATE_DATA];
    DAT_COUNT private_size;
    DAT_EVENT_NUMBER end; /* SHM_CONN_ENDING: how the consumer will learn it */

    /* data path */
    struct shm_segment *segment; /* NULL: not mapped */
    struct shm_peer *peer;
    bool fenced;              /* both sides need fences */
    bool deaf;                /* a receive has failed; under ep->lock */
    _Atomic uint64_t rq_base; /* receives of the EP before this connection, less
                                 the messages that direct.c has taken */
    uint64_t rx_taken;        /* messages received */
    uint64_t tx_tail;         /* next line to write; shm_ring_prefetch() reads
                                 it in any thread */
    uint64_t tx_head;         /* the receiver's head, last seen */
    uint64_t tx_index;        /* messages sent */
    uint64_t tx_backlogged;   /* of those, into the backlog */
    uint64_t tx_backlog_end;  /* `taken` when the backlog will be empty; 0: it
                                 is empty */
    uint64_t tx_posted;       /* the receiver's posted, last seen */
    uint64_t waiting;         /* number of the EP's first request that is not in
                                 the peer's queue */
    uint32_t announce;        /* rx->announce; under ia->bell_lock */
    struct shm_cold cold[2];  /* [write] */
    struct shm_swing swing;   /* of writes */
    const void *wrote_from;   /* the source of the last direct write */

    /* What pollers read without a lock, even when the connection is gone and
     * its memory serves another one: atomic, or constant. */
    char *place; /* where its segment is mapped, else zeros can be read */
    struct shm_dir *tx, *rx;
    char *tx_ring, *rx_ring; /* each mapped twice in a row */
    char *tx_backlog, *rx_backlog;
    atomic_bool timed; /* messages may be due later: there is a link model */
    _Atomic uint64_t rx_head; /* next line to read; changed under ep->lock */
    _Atomic uint64_t rx_backlogged; /* of rx_taken, those in the backlog */
};

/* How far a request has come: core_request.tp. */
struct shm_request {
    bool posted;      /* it is in the peer's queue */
    bool need_taken;  /* complete when the peer has taken it, else when the
                         peer has a receive for it */
    bool carried_out; /* only its time is missing */
    uint64_t index;   /* message number */
    uint64_t due;     /* ns, not complete before; 0: any time */
};

/* Of an EP, connected or not: core_ep_area. */
struct shm_ep {
    _Atomic uint64_t capacity; /* 1 + bytes of the smallest receive so far;
                                  0: none */
};

/* Between a store and a load of what the peer may have stored: the frequent
 * side of core/fence.h. */
static inline void shm_fence(const struct shm_conn *c)
{
    core_fence_light(!c->fenced);
}

#endif
