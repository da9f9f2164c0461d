/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DAT provider whose rails live in virtual time. IA "simN" is rail N of the
 * node of the rank that opens it. One thread runs everything: locks are taken
 * only because core's functions expect it, and no actor sleeps with one.
 */
#ifndef PROVIDERS_SIM_SIM_H
#define PROVIDERS_SIM_SIM_H

#include "providers/core/core.h"
#include "providers/sim/world.h"

struct sim_ia {
    struct core_ia *ia;
    struct sim_ia *next; /* another open IA */
    unsigned rank;
    struct sim_place place;
    const struct sim_rail *rail;
    struct core_sp *listeners; /* linked by tp */
    uint64_t notices;          /* its part of sim_notices, … */
    uint64_t elsewhere; /* … and the rest, as far as its waiter knows */
};

/* One end of a connection. It lives until its EP, the other end, and all
 * messages under way have dropped it. */
struct sim_conn {
    unsigned refs;
    struct core_ep *ep; /* NULL: the EP has dropped it */
    struct sim_ia *ia;
    struct sim_place place; /* of the IA, even when that is closed */
    struct sim_conn *peer;  /* NULL: none yet */
    bool ended;             /* or given up: nothing lands any more */
    bool closing;           /* it ends when all requests are complete */
    bool leaving;           /* bytes of a request are leaving */
    bool broken;            /* it ends at once */
    struct sim_flow flow;   /* messages that leave here, also answers */
    /* numbers of requests, in this order: the next to complete, the next to
     * land, the next to leave, and the first that may not leave yet because its
     * post takes its time */
    uint64_t landing, arrived, left, posted;
};

/* The transport's part of a request. */
struct sim_request {
    uint64_t remote_address, operand, compare, old;
    uint32_t remote_key;
};

static inline struct sim_ia *sim_ia(const struct core_ia *ia)
{
    return ia->tp;
}

static inline struct sim_conn *sim_conn(struct core_ep *ep)
{
    return ep->tp;
}

/* ia.c. Adds / removes an open IA, which has an address. */
void sim_ia_add(struct sim_ia *ia);
void sim_ia_remove(struct sim_ia *ia);
/* The service point at this address, or NULL. */
struct core_sp *sim_listener(const struct sockaddr_storage *address,
                             DAT_CONN_QUAL qual);
/* Wakes waiters of the IA: something has arrived for it. */
void sim_ia_notify(struct sim_ia *ia);

/* connection.c */
struct sim_conn *sim_conn_new(struct core_ep *ep, struct sim_conn *peer);
void sim_conn_hold(struct sim_conn *c);
void sim_conn_drop(struct sim_conn *c);
/* Ends it: nothing leaves or lands any more. Its EP gets this event, its peer
 * one latency later. ia->lock is held. */
void sim_conn_end(struct sim_conn *c, DAT_EVENT_NUMBER event);
void sim_disconnect(struct core_ep *ep, bool graceful);
void sim_ep_release(struct core_ep *ep);
void sim_abort(struct core_ep *ep);
/* Its last request is complete: ends it, if it is closing. */
void sim_conn_idle(struct sim_conn *c);

/* connect.c */
DAT_RETURN sim_listen(struct core_sp *sp);
void sim_unlisten(struct core_sp *sp);
DAT_RETURN sim_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                       const void *private_data);
DAT_RETURN sim_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                      const void *private_data);
void sim_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data);

/* transfer.c */
DAT_RETURN sim_post(struct core_ep *ep, const struct core_dto *dto);
void sim_recv_posted(struct core_ep *ep);
/* Lands the requests that have arrived, as far as there are receives. */
void sim_land(struct sim_conn *from);

#endif
