/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_REQUEST_H
#define DCOLL_REQUEST_H

#include <sys/queue.h>

#include "coll/run/irregular/elements.h"
#include "coll/run/node/flag_line.h"
#include "coll/run/prepare/partners.h"
#include "coll/run/team/team.h"

/* A request: schedule, memory and connections of a collective, prepared once,
 * and how far the present start of it has got. */

/* The key of a user's buffer that others get from. */
struct shared_key {
    drail_key_t key;
} __attribute__((aligned(CACHE_LINE)));

/* What READY carries: RECV's key. Irregular: what may come from the peer, and
 * where to, in elements. */
struct window {
    drail_key_t key;
    uint64_t begin, elements;
};

#define WINDOW_CLOSED                                                          \
    UINT64_MAX /* elements: nothing may, there is an error                     \
                */

/* Begin of the node memory of a request. */
struct node_header {
    _Atomic uint32_t sleepers; /* ranks that sleep on one of the lines */
} __attribute__((aligned(CACHE_LINE)));

enum owner {
    OWNER_CALLER, /* dcoll_init: persistent */
    OWNER_TEAM,   /* of blocking calls */
    OWNER_BEGIN,  /* of dcoll_begin */
    OWNER_HOLDERS /* dropped by the team while callers have handles of it */
};

/* What it takes to keep a request, at most on one of the ranks. */
struct weight {
    uint64_t bytes;
    uint64_t files; /* that are open for its memory */
};

struct dcoll_request {
    TAILQ_ENTRY(dcoll_request) used, active_one; /* in the team's lists */
    LIST_ENTRY(dcoll_request) same_bucket;
    dcoll_team_t *team;
    enum owner owner;
    unsigned handles; /* that dcoll_begin gave and nobody has ended yet */
    uint32_t id;      /* the same on all ranks */
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    dcoll_schedule_t schedule;
    struct call call;
    struct weight weight;
    dcoll_traffic_t traffic;  /* irregular: args.traffic is this */
    struct elements elements; /* of the present start */
    struct dealing dealing;
    dcoll_reduction_t reduction; /* of the present start */

    /* memory: of each space, and from one start's to the next's */
    unsigned char *base[4];
    size_t stride[4];
    drail_mem_t *mem[4];
    struct piece *memory; /* TEMP and keys; NULL: neither is needed */
    struct segment node;
    struct node_header *header;
    struct line *lines, *words; /* flags with and without payload */
    uint32_t *seen;             /* latest known value of each word */
    struct shared_key *shared;  /* by rank on my node */
    bool uses_send, uses_recv;  /* the transport reads or writes them */
    bool pulls;                 /* ... only by gets within the node */
    size_t read; /* bytes of the present one, where it needs no rail */
    struct partners partners;
    struct window *windows; /* by rank: RECV of those that said READY */
    struct window *mine;    /* what READY carries; placed: by rank */

    /* progress */
    bool active;
    uint64_t start; /* number of the present start */
    unsigned pc;
    unsigned transfers, completed; /* of this start */
    drail_req_t *reqs;             /* one per put and get of the schedule */
    unsigned *creditors; /* peers whose notifications I wait for with a lag */
    unsigned ncreditors;
    uint64_t waiting_ns; /* since when it has not moved, 0: it has */
    uint64_t looked_ns;  /* ledger_check was made */
    unsigned polls;      /* by dcoll_test */
};

/* Which of the depth's memory the present start uses. */
static inline size_t turn(const dcoll_request_t *q)
{
    return q->start & (q->args.depth - 1);
}

static inline unsigned char *address(const dcoll_request_t *q,
                                     dcoll_place_t place)
{
    return q->base[place.space] + turn(q) * q->stride[place.space] +
           place.offset;
}

#endif
