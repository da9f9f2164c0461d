/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link: the connection to one peer over one rail, with its queue of requests,
 * its receive and send slots, and its credits. What happens on it goes up
 * through functions that the layers above provide: struct link_handlers for
 * messages that arrive, struct completion for requests that complete.
 *
 * The files of this folder, in reading order:
 *
 *   wire.h        what is sent: headers of messages
 *   link.h        a link: states, opening, loss, end
 *   peer.h        another rank, and the links to it
 *   queue.h       posting requests, and completing them in order
 *   slots.h       receive and send slots, in memory of buffers.h
 *   credits.h     sending messages, which credits allow
 *   growing.h     several short messages in one request
 *   arrival.h     messages that have arrived
 *   events.h      takes a rail's events and tells the files above
 *   ep.h          the link's EP; ep_table.h, ep_release.h: all EPs of a rail
 *   rdma.h        writes and reads of any length
 *   at_once.h     writes that are complete when they are posted
 *   loopback.h    a rail's connection to itself, for atomics
 *   connect/      how links to a peer come up: see connect.h
 *   failover/     how a lost link goes on over others: see failover.h
 */
#ifndef DRAIL_LINKS_LINK_H
#define DRAIL_LINKS_LINK_H

#include <dat2/udat.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/ep.h"
#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/growing.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/links/slots.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/rails/rail.h"

struct failover;
struct peer;

/*
 * CONNECTING: it has never been up, and this rank still waits for that.
 * LOST: its EP is not up; requests are kept for another link or its next EP
 * (failover/loss.h).
 * DOWN: it has ended. The EP is disconnected, but requests may still be under
 * way.
 * FLUSHED: all requests have come back; nothing reads or writes their memory
 * any more.
 */
enum link_state {
    LINK_CONNECTING,
    LINK_UP,
    LINK_LOST,
    LINK_DOWN,
    LINK_FLUSHED
};

/* Each struct belongs to the file that declares it. Fields that each put and
 * send use come first. */
struct link {
    struct rail *rail;
    struct peer *peer;
    unsigned index; /* of the EP among those of its rail and peer */
    int error;
    enum link_state state;
    bool established; /* has been up */
    bool closed;      /* its events are dropped */
    bool post_failed; /* its EP refused a request: link_lose() is to follow */
    struct ep ep;
    struct queue queue;
    struct journal journal;
    struct credits credits;
    struct growing growing;
    struct slots slots;
    struct failover *failover;  /* constant if the link has no journal */
    struct link *next_closed;   /* of rail.closed */
    struct link *next_in_table; /* ep_table.c */
    char *why;                  /* it was lost or has ended; base/sentence.h */
} __attribute__((aligned(CACHE_LINE)));

/* What the layer above does with what arrives; drail.handlers. */
struct link_handlers {
    /* Before the first link to a peer is made; after the last one is gone. */
    int (*prepare)(struct peer *peer);
    void (*release)(struct peer *peer);
    /* A message of this type has arrived. Called in the rail's thread. The
     * handler owns the slot until it calls slot_return(). NULL, or what is
     * wrong with the message. */
    const char *(*arrived[WIRE_TYPES])(struct slot *slot);
    /* The same for the note of link_write_immed(); the slot holds nothing. */
    const char *(*noted)(struct slot *slot, uint32_t note);
    /* A message of so many bytes is arriving, and its header is in the slot.
     * Returns where the bytes behind the header go; NULL: to the slot. */
    void *(*place)(const struct slot *slot, size_t bytes);
};

/* Makes a link without an EP; see ep_open(). 0 or an error. */
int link_open(struct rail *rail, struct peer *peer, unsigned index,
              struct link **out);
/* Gives the link up; links_bury() frees it later. */
void link_close(struct link *link);
/* Frees the closed links of the rail whose EPs are drained. Call it when the
 * rail's queue of events is empty. all: frees all of them, at the end. True:
 * EPs have been freed. */
bool links_bury(struct rail *rail, bool all);
/* Ends the link. Its requests that are under way end with this error. */
void link_down(struct link *link, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The link's EP has failed, or does not come up: it goes on over another link
 * to the peer. If that is impossible: link_down(). */
void link_lose(struct link *link, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The link is up again, or has ended: its rail no longer counts it as lost. */
void link_loss_ended(struct link *link);

#endif
