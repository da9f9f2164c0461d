/* SPDX-License-Identifier: BSD-3-Clause */
/* Another rank, and the links to it. */
#ifndef DRAIL_LINKS_PEER_H
#define DRAIL_LINKS_PEER_H

#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <dat2/udat.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/dapl_rail.h"

struct mailbox;

/* Of a rail and an EP. */
struct lane {
    struct link *link;
    DAT_CR_HANDLE waiting; /* passive side: a request that is to be answered */
};

/* There is one for each rank that this one has to do with: peer_meet(). */
struct peer {
    drail_t *owner;
    struct peer *next;        /* of drail.met */
    struct peer *next_sought; /* of drail.sought, … */
    bool sought;              /* … and it is there */
    unsigned rank;
    bool connected;
    bool wanted;       /* we, or it, would have a connection */
    bool held;         /* a call sees to the attempt, or to its end */
    _Atomic int error; /* for which its links have ended, the first */
    _Atomic unsigned error_rail;
    _Atomic bool unsettled; /* see peer_unsettle */
    bool ending;    /* its links end on purpose: none goes on over another */
    char *refused;  /* why we don't want it; base/sentence.h */
    uint32_t rails; /* that reach it: there are links over these, … */
    _Atomic uint32_t up; /* … all of whose EPs are up over these */
    /* Sets of rails of which a connection takes one: what is tried first, and,
     * if that does not leave the host, what else there is, or 0. */
    uint32_t inside, outside;
    bool absent;         /* nobody was there where we asked: … */
    unsigned in_vain;    /* … so many attempts, one after the other, … */
    uint64_t ask_ns;     /* … and the next one is not before this */
    uint16_t attempt;    /* of the active side to connect, the newest */
    DAT_EP_HANDLE knock; /* solicit.c: under way, … */
    TAILQ_ENTRY(peer) knocking; /* … as those of drail.knocking are, … */
    uint64_t knock_ns;   /* … and when the next is due; 0: not yet set */
    unsigned knock_turn; /* of the rails, … */
    unsigned unanswered; /* … of them, one after the other, … */
    unsigned refusals;   /* … and of these, by a provider */
    /* passive side, requests.c */
    bool given_up;         /* by us: that attempt, … */
    uint32_t asked;        /* … which is for these rails */
    struct link *probed;   /* heartbeat.c: over which it was asked last */
    uint64_t ahead;        /* bytes that it had under way when it answered */
    unsigned turn;         /* whose EP a short message takes */
    _Atomic uint64_t read; /* times it has said that it reads from us */
    struct mailbox *mail;  /* the layer above's */
    struct lane lanes[];   /* by rail and EP */
};

/* That of the rank, which is another than this one; NULL: out of memory. */
struct peer *peer_meet(drail_t *t, unsigned rank);
/* It is not connected (any more): attempts_serve() looks after it. */
void peer_seek(struct peer *peer);

static inline struct lane *peer_lane(struct peer *peer, unsigned rail,
                                     unsigned ep)
{
    return &peer->lanes[rail * peer->owner->cfg.eps + ep];
}

/* NULL: there is none. */
static inline struct link *peer_link(const struct peer *peer, unsigned rail,
                                     unsigned ep)
{
    return peer->lanes[rail * peer->owner->cfg.eps + ep].link;
}

/* The connection to be made takes these. */
static inline void peer_take(struct peer *peer, uint32_t rails)
{
    peer->owner->reach_changed |= rails != peer->rails;
    peer->rails = rails;
    atomic_store(&peer->up, rails);
}

/* Rails that new messages to it may take. None is up: of those that were. */
static inline uint32_t peer_reach(const struct peer *peer)
{
    uint32_t up = atomic_load_explicit(&peer->up, memory_order_relaxed);
    return up ? up : peer->rails;
}

/* Something of it waits for lost_serve(). */
static inline void peer_unsettle(struct peer *peer)
{
    atomic_store_explicit(&peer->unsettled, true, memory_order_relaxed);
    atomic_store_explicit(&peer->owner->unsettled, true, memory_order_relaxed);
}

/* The next of the links to it over these rails, from place *at on; NULL: there
 * are no more. */
static inline struct link *peer_next(const struct peer *peer, uint32_t rails,
                                     unsigned *at)
{
    const drail_t *t = peer->owner;
    unsigned eps = t->cfg.eps;
    while (*at < t->nrails * eps) {
        unsigned r = *at / eps;
        if (!(rails & RAIL_BIT(r))) {
            *at = (r + 1) * eps;
            continue;
        }
        struct link *link = peer->lanes[(*at)++].link;
        if (link)
            return link;
    }
    return NULL;
}

#endif
