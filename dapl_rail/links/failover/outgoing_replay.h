/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replay: a lost link sends the requests in its journal, and those that are
 * posted on it meanwhile, over its carrier: another link to the same peer, or
 * in the end its own next EP.
 *
 * A link may carry for several others. Its own counts of requests, credits and
 * messages do not include that: carried requests have a queue of their own, and
 * each has an event; carried messages have receives of their own, which the
 * peer acknowledges. Receives behind credits would not do: notifications could
 * hold all of them while they wait for the very data that is to be replayed.
 */
#ifndef DRAIL_LINKS_FAILOVER_OUTGOING_REPLAY_H
#define DRAIL_LINKS_FAILOVER_OUTGOING_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dto;
struct link;
struct wire;

/* How far the replay of a lost link is. Numbers are those of its queue. */
struct replay {
    struct link *carrier;
    uint64_t next;      /* the next record */
    uint64_t delivered; /* the peer has those before, but for reads */
    uint64_t next_op;   /* the first op at or after `next` */
    uint64_t tried;     /* those before have been posted, perhaps in vain */
    uint64_t part;      /* bytes of the next record that are posted, … */
    bool written;       /* … all of them, but not the message after them */
    unsigned pending;   /* requests under way on the carrier */
    uint64_t completed; /* such requests that are complete, ever */
    uint32_t last;      /* number of the last message on the carrier */
};

/* A request that a link carries. Its cookie is the address. */
struct carried {
    struct link *link;  /* the carrier */
    struct link *owner; /* the lost link; NULL: for the two ends themselves */
    uint32_t bytes;
    enum carried_as { CARRIED_DATA, CARRIED_MESSAGE, CARRIED_ACK } as;
    uint64_t number; /* with it the owner's requests up to this one are
                        complete; 0: none beyond those before */
} __attribute__((aligned(8)));

#define CARRIED_MAX 32u /* requests carried by a link at once */
/* Carried messages that the peer has not acknowledged, at most; and as many
 * acknowledgements under way. */
#define WINDOW    4u
#define ACK_BYTES 64u

/* What a link carries. */
struct carrier {
    struct carried ring[CARRIED_MAX];
    unsigned head, tail;
    uint32_t sent, done, acked;    /* messages to the peer */
    uint32_t acks_sent, acks_done; /* acknowledgements to the peer */
};

/* --------------------------------------------------------- the lost link ---
 */

/* Begins, or begins anew, with the first record that is not complete. The peer
 * has those before replay.delivered. */
void replay_begin(struct link *link, struct link *carrier);
/* Posts as many records as there is room for. */
void replay_continue(struct link *link);
/* Goes on over the link's own EP, which is up, when nothing is under way on
 * another carrier. */
void replay_return(struct link *link);
/* Has all been posted on the link's own EP? */
bool replay_is_done(const struct link *link);
/* No link to the peer is left, and nothing is under way: completes what the
 * peer is known to have received. */
void replay_abandon(struct link *link);

/* ----------------------------------------------------------- the carrier ---
 */

/* The link's number in messages over other links: 1, 2, … */
unsigned lane_number(const struct link *link);
/* The link to the same peer that has this number, or NULL. */
struct link *lane_of(const struct link *link, unsigned number);

/* Sends a message. owner: the lost link that it is for, with the number of
 * struct carried; or NULL. False: there is no room now. */
bool carrier_send(struct link *link, struct link *owner, uint64_t number,
                  const struct wire *wire, const void *payload, size_t bytes);
/* Acknowledges the carried messages that have arrived, if there is room. */
void carrier_acknowledge(struct link *link);
/* Is nothing that it carries under way? */
bool carrier_idle(const struct link *link);
/* The event of a carried request has come without an error. */
void carrier_completed(const struct carried *carried);

#endif
