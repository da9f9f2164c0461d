/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting. */
#ifndef DRAIL_ENGINE_PROGRESS_H
#define DRAIL_ENGINE_PROGRESS_H

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/platform/deadline.h"

struct link;
struct peer;
struct rail;

/*
 * What a wait is for. *owed is set to the rails that still owe an event.
 * Returns 1 when all has come, 0 when not yet, or an error.
 */
typedef int (*owed_t)(drail_t *t, void *arg, uint32_t *owed);

/* Bound of a wait; the clock is read first when nothing has happened for a
 * while. Time in which the process stands still does not count. What completes
 * of a peer's, on rails that owe something, begins it anew: a long transfer
 * over a slow rail is no failure. */
struct patience {
    drail_t *t;
    int timeout_ms;
    const struct peer *peer;  /* or NULL: nothing does */
    uint32_t rails;           /* that owe something, … */
    uint64_t completed;       /* … and what was complete at the last look */
    struct deadline deadline; /* at 0: not yet known */
    uint64_t checked_ns;      /* by patience_check, or begun */
};

int patience_check(struct patience *patience);
/* Polls for the spin time in the calling thread: 1, 0 or an error. */
int progress_spin(drail_t *t, owed_t owed, void *arg);
/* Waits in the calling thread for events of any rail. */
int progress_wait(drail_t *t, owed_t owed, void *arg, int timeout_ms);
/* The same, and so long after what completes of the peer's. */
int progress_wait_for(const struct peer *peer, owed_t owed, void *arg,
                      int timeout_ms);
/* The same as a part of a longer wait; without time for it, DRAIL_EAGAIN. */
int progress_wait_on(struct patience *patience, owed_t owed, void *arg);
/* Waits in the rail's thread until the rail owes nothing; peer: NULL, or as for
 * progress_wait_for(). WAIT_LEFT: a link is lost, and what follows is for one
 * thread. */
#define WAIT_LEFT 1
int rail_wait(struct rail *rail, const struct peer *peer, owed_t owed,
              void *arg, int timeout_ms);

/* At the end of a wait that failed with this error: has come meanwhile, perhaps
 * on another rail, what it was for? Then 0, else the error. */
int progress_last_look(drail_t *t, owed_t owed, void *arg, int error);
/* Looks for the ends of connections on all rails, and sees to new ones: a peer
 * may ask for one at any time. */
void progress_check(drail_t *t);
/* A step of all that goes on, which waits for nothing. */
void progress_step(drail_t *t);

/* Lets everything go on until this is true of all links over these rails, or
 * only those to a peer (NULL: until those that are closed are freed); not for
 * longer than so many milliseconds, and not ended by an interruption. For the
 * end of connections. */
bool progress_until(drail_t *t, bool (*reached)(struct link *link),
                    const struct peer *only, uint32_t rails, int ms);

#endif
