/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting. */
#ifndef DRAIL_ENGINE_PROGRESS_H
#define DRAIL_ENGINE_PROGRESS_H

#include "dapl_rail/dapl_rail.h"

struct link;
struct peer;
struct rail;

/*
 * What a wait is for. *owed is set to the rails that still owe an event.
 * Returns 1 when all has come, 0 when not yet, or an error.
 */
typedef int (*owed_t)(drail_t *t, void *arg, uint32_t *owed);

/* Bound of a wait; the clock is read first when nothing has happened for a
 * while. */
struct patience {
    drail_t *t;
    int timeout_ms;
    uint64_t deadline_ns;
};

int patience_check(struct patience *patience);
/* Polls for the spin time in the calling thread: 1, 0 or an error. */
int progress_spin(drail_t *t, owed_t owed, void *arg);
/* Waits in the calling thread for events of any rail. */
int progress_wait(drail_t *t, owed_t owed, void *arg, int timeout_ms);
/* Waits in the rail's thread until the rail owes nothing. WAIT_LEFT: a link is
 * lost, and what follows is for one thread. */
#define WAIT_LEFT 1
int rail_wait(struct rail *rail, owed_t owed, void *arg, int timeout_ms);

/* At the end of a wait that failed with this error: has come meanwhile, perhaps
 * on another rail, what it was for? Then 0, else the error. */
int progress_last_look(drail_t *t, owed_t owed, void *arg, int error);
/* Looks for the ends of connections on all rails, and sees to new ones: a peer
 * may ask for one at any time. */
void progress_check(drail_t *t);

/* Lets everything go on until this is true of all links over these rails, or
 * only those to a peer (NULL: until those that are closed are freed); not for
 * longer than so many milliseconds, and not ended by an interruption. For the
 * end of connections. */
bool progress_until(drail_t *t, bool (*reached)(struct link *link),
                    const struct peer *only, uint32_t rails, int ms);

#endif
