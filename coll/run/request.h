/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request: the schedule, the memory and the connections of one collective,
 * prepared once (prepare/), and the progress of its present start (execute/).
 */
#ifndef DCOLL_REQUEST_H
#define DCOLL_REQUEST_H

#include <sys/queue.h>

#include "coll/run/irregular/elements.h"
#include "coll/run/node/flag_line.h"
#include "coll/run/prepare/partners.h"
#include "coll/run/team/team.h"

/* The key of a user's buffer from which ranks of the node get. */
struct shared_key {
    drail_key_t key;
} __attribute__((aligned(CACHE_LINE)));

/* The contents of a READY notification: the key of RECV. Irregular: also the
 * place and the number of the elements that the peer may write. */
struct window {
    drail_key_t key;
    uint64_t begin, elements;
};

#define WINDOW_CLOSED                                                          \
    UINT64_MAX /* elements: the peer may write nothing, as there is an error   \
                  \ */

/* The begin of the node memory of a request. */
struct node_header {
    _Atomic uint32_t sleepers; /* ranks that sleep on one of the flags */
} __attribute__((aligned(CACHE_LINE)));

enum owner {
    OWNER_CALLER,      /* persistent, from dcoll_init */
    OWNER_BLOCKING,    /* cached for blocking calls */
    OWNER_NONBLOCKING, /* cached for dcoll_begin */
    OWNER_DROPPED      /* no longer cached, but callers hold handles of it */
};

/* What a cached request costs: on each rank at most this. */
struct footprint {
    uint64_t bytes;
    uint64_t files; /* file descriptors open for its memory */
};

struct dcoll_request {
    TAILQ_ENTRY(dcoll_request) used, active_one; /* in the team's lists */
    LIST_ENTRY(dcoll_request) same_bucket;
    dcoll_team_t *team;
    enum owner owner;
    unsigned handles; /* given by dcoll_begin and not yet completed */
    uint32_t id;      /* the same on all ranks */
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    size_t *begin;        /* args.begin points here; NULL: equal blocks */
    unsigned *port_begin; /* and args.port_begin here */
    dcoll_schedule_t schedule;
    struct call call;
    struct footprint footprint;
    dcoll_traffic_t traffic;           /* irregular: args.traffic points here */
    uint64_t *counts;                  /* and traffic.counts here, or NULL */
    struct elements elements;          /* of the present start */
    struct neighborhood *neighborhood; /* elements points into it, or NULL */
    struct dealing dealing;
    dcoll_reduction_t reduction; /* of the present start */

    /* Memory of each space; stride: the bytes of one start. */
    unsigned char *base[4];
    size_t stride[4];
    drail_mem_t *mem[4];
    struct piece *memory; /* TEMP and windows; NULL: neither is needed */
    struct segment node;
    struct node_header *header;
    struct line *lines, *words; /* flags with and without payload */
    uint32_t *seen;             /* latest known value of each word */
    struct shared_key *shared;  /* by rank on my node */
    bool uses_send, uses_recv;  /* the transport reads or writes them */
    bool pulls;                 /* … only by gets within the node */
    size_t read; /* bytes of the present get that are read so far, when the
                    kernel copies it */
    struct partners partners;
    struct window *windows; /* by rank: received with READY */
    struct window *mine;    /* sent with READY; placed algorithms: by rank */

    /* progress */
    bool active;
    uint64_t start;                /* the number of the present start */
    unsigned pc;                   /* index of the next operation */
    unsigned transfers, completed; /* of this start */
    drail_req_t *reqs;             /* one per put and get of the schedule */
    unsigned *creditors;           /* peers whose credits this rank awaits */
    unsigned ncreditors;
    uint64_t waiting_ns; /* when it last moved, as far as known; 0: just now */
    uint64_t checked_ns; /* when the peer's ledger was last checked */
    uint64_t moved; /* latest known drail_moved() of the awaited rank; at first
                       more than it can be */
    unsigned polls; /* by dcoll_test */
};

/* Do all ranks start it in the same order, relative to other calls? */
static inline bool request_is_ordered(const dcoll_request_t *q)
{
    return q->owner != OWNER_CALLER || !q->team->cfg.any_order;
}

/* Which of the depth's buffers the present start uses. */
static inline size_t depth_slot(const dcoll_request_t *q)
{
    return q->start & (q->args.depth - 1);
}

static inline unsigned char *address(const dcoll_request_t *q,
                                     dcoll_place_t place)
{
    return q->base[place.space] + depth_slot(q) * q->stride[place.space] +
           place.offset;
}

#endif
