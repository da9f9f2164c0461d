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
#include "dapl_rail/links/connect/attempt.h"
#include "dapl_rail/links/connect/solicit.h"

struct mailbox;

/* The place of one link: by rail and EP. */
struct lane {
    struct link *link;     /* or NULL */
    DAT_CR_HANDLE waiting; /* passive side: a request still to be answered */
};

/* There is one for each rank that this rank has had to do with: peer_meet(). */
struct peer {
    drail_t *owner;
    struct peer *next;        /* of drail.met */
    struct peer *next_sought; /* of drail.sought, … */
    bool sought;              /* … which has this peer */
    unsigned rank;
    bool connected;
    _Atomic int error; /* why its links have ended: that of the first */
    _Atomic unsigned error_rail;
    _Atomic bool unsettled; /* see peer_unsettle */
    bool ending;    /* its links end on purpose: none fails over to another */
    char *refused;  /* why it can't be connected; base/sentence.h */
    uint32_t rails; /* that its links go over, … */
    _Atomic uint32_t up; /* … and those of them on which all links are up */
    /* The sets of rails that a connection may take: the first choice, and, if
     * that does not leave the host, the other, or 0. */
    uint32_t inside, outside;
    struct attempt attempt;
    struct solicit solicit;
    struct link *probed;       /* failover/heartbeat.c: the last link probed */
    uint64_t outstanding;      /* bytes it had under way at its last answer */
    unsigned turn;             /* the EP that a short message takes */
    _Atomic uint64_t progress; /* times it has sent WIRE_PROGRESS */
    uint64_t completed;        /* requests on links that are closed */
    struct mailbox *mail;      /* of the layer above */
    struct lane lanes[];       /* by rail and EP */
};

/* One that no rank has yet; free() it. NULL: out of memory. */
struct peer *peer_new(const drail_t *t);
/* The peer with this rank, which is not this one's. NULL: out of memory, for
 * the second time: the first time drail.spare serves, so that this rank can
 * tell the peer. */
struct peer *peer_meet(drail_t *t, unsigned rank);
/* The peer is not connected (any more): attempts_serve() looks after it. */
void peer_seek(struct peer *peer);

static inline struct lane *peer_lane(struct peer *peer, unsigned rail,
                                     unsigned ep)
{
    return &peer->lanes[rail * peer->owner->cfg.eps + ep];
}

/* The link over this rail and EP, or NULL. */
static inline struct link *peer_link(const struct peer *peer, unsigned rail,
                                     unsigned ep)
{
    return peer->lanes[rail * peer->owner->cfg.eps + ep].link;
}

/* The next connection takes these rails. */
static inline void peer_take(struct peer *peer, uint32_t rails)
{
    peer->owner->reach_changed |= rails != peer->rails;
    peer->rails = rails;
    atomic_store(&peer->up, rails);
}

/* The rails that a new message may take. If none is up, all: it waits there. */
static inline uint32_t peer_reach(const struct peer *peer)
{
    uint32_t up = atomic_load_explicit(&peer->up, memory_order_relaxed);
    return up ? up : peer->rails;
}

/* Something of the peer's waits for loss_serve(). */
static inline void peer_unsettle(struct peer *peer)
{
    atomic_store_explicit(&peer->unsettled, true, memory_order_relaxed);
    atomic_store_explicit(&peer->owner->unsettled, true, memory_order_relaxed);
}

/* Iterates over the links to the peer over these rails: *at is 0 at first.
 * NULL: there are no more. */
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
