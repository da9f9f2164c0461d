/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link's EP. A link that is lost may get another one: its EP ends, all that
 * is posted on it comes back, it is freed, and reconnect.c opens the next.
 */
#ifndef DRAIL_LINKS_EP_H
#define DRAIL_LINKS_EP_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

struct link;
struct rail;

/* ENDING: until all that is posted on it has come back. */
enum ep_state { EP_NONE, EP_CONNECTING, EP_UP, EP_ENDING };

/* How the EP of a lost link has been asked to end, each more forcibly than the
 * one before; see ep_force(). */
enum ending { ENDING_GRACEFULLY, ENDING_ABRUPTLY, ENDING_RESET };

struct ep {
    DAT_EP_HANDLE handle;
    enum ep_state state;
    enum ending ending;
    bool begun;         /* it has been asked to connect, or to accept */
    bool disconnecting; /* ep_disconnect() was called */
    uint64_t ending_ns; /* when it was asked to end in this way */
    uint64_t up_ns;     /* when it was connected last */
};

/* Request DTOs of an EP, by unit of depth. */
#define REQUESTS_PER_RECEIVE 4

/* The most DTOs of one EP that may have events. */
unsigned link_events(const struct rail *rail);
/* Request DTOs of one EP that are for other links. */
unsigned link_carried_requests(const drail_t *t);

/* Creates the link's next EP and posts all idle slots on it. 0 or an error. */
int ep_open(struct link *link);
/* Asks for the end of the connection, on which nothing is under way. */
void ep_disconnect(struct link *link);
/* Disconnects the EP, if there is one; nothing can be posted from now on. */
void ep_end(struct link *link);
/* The same without waiting for a peer that can't be reached. */
void ep_end_gracefully(struct link *link);
/* The EP of a link that was just lost can't come back by itself: ep_force() is
 * called sooner. */
void ep_hurry(struct link *link);
/* Should all that is posted on the ending EP have come back by now? */
bool ep_is_overdue(const struct link *link);
/* Ends an overdue EP more forcibly; in the end, gives up what is posted on it.
 * The caller has taken all events before. */
void ep_force(struct link *link);
/* Frees the ending EP if all that was posted on it has come back. True: it is
 * free. */
bool ep_try_release(struct link *link);

/* Flushes a link that has ended, or lost its EP. True: no request is under way
 * any more. */
bool link_try_flush(struct link *link);
/* The same; true: no receive is under way either. Providers of verbs crash on
 * events that come after their EP is freed. */
bool link_try_drain(struct link *link);

#endif
