/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one place where operations wait. A call that waits lets everything go on:
 * all rails and, as a rail's events are those of all its links, all peers.
 */
#ifndef DRAIL_ENGINE_PROGRESS_H
#define DRAIL_ENGINE_PROGRESS_H

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/platform/deadline.h"

struct link;
struct peer;
struct rail;

/*
 * The condition of a wait. Returns 1: it is met; 0: not yet, and *owed is set
 * to the rails that still owe an event; or an error.
 */
typedef int (*owed_t)(drail_t *t, void *arg, uint32_t *owed);

/* The timeout of a wait. Time in which the process is stopped does not count.
 * Each completion to or from the peer, on rails that owe an event, restarts it:
 * a long transfer over a slow rail is no failure. The clock is read only when
 * nothing has happened for a while. */
struct patience {
    drail_t *t;
    int timeout_ms;
    const struct peer *peer;  /* NULL: nothing restarts the timeout */
    uint32_t rails;           /* that owe an event, … */
    uint64_t completed;       /* … and peer_completed() at the last look */
    struct deadline deadline; /* at_ns 0: not yet set */
    uint64_t checked_ns;      /* last patience_check(), or the beginning */
    /* Optional: looks for what meets the condition, between polls of the only
     * rail that owes something. True: it is met. */
    bool (*look)(drail_t *t, void *arg);
    void *look_arg;
};

/* 0, DRAIL_ETIMEOUT or DRAIL_EINTR. */
int patience_check(struct patience *patience);
/* Polls for the spin time: 1, 0: the condition is not met, or an error. */
int progress_spin(drail_t *t, owed_t owed, void *arg);
/* Waits until the condition is met. 0, DRAIL_ETIMEOUT or another error. */
int progress_wait(drail_t *t, owed_t owed, void *arg, int timeout_ms);
/* The same; completions of the peer's restart the timeout. */
int progress_wait_for(const struct peer *peer, owed_t owed, void *arg,
                      int timeout_ms);
/* The same as a part of a longer wait. DRAIL_EAGAIN: its timeout is 0. */
int progress_wait_on(struct patience *patience, owed_t owed, void *arg);
/* May a wait whose condition is met at once do without progress_wait_on()?
 * Counts it as a wait if so. */
bool progress_may_skip(drail_t *t);
/* Waits in the rail's thread until the rail owes nothing. peer: as in struct
 * patience. WAIT_LEFT: a link is lost; the caller's thread alone goes on. */
#define WAIT_LEFT 1
int rail_wait(struct rail *rail, const struct peer *peer, owed_t owed,
              void *arg, int timeout_ms);

/* A wait has failed with this error. 0: its condition has been met meanwhile,
 * perhaps by another rail; else the error. */
int progress_last_look(drail_t *t, owed_t owed, void *arg, int error);
/* Takes connection events, peers' requests to connect, heartbeats and lost
 * links a step further. */
void progress_check(drail_t *t);
/* The same and a poll of all rails. Nothing here waits. */
void progress_step(drail_t *t);

/* For the end of connections: lets everything go on until `reached` is true of
 * all links over these rails, of all peers or of one (`only`). reached NULL:
 * until closed links are freed. Interruptions do not end it. False: ms have
 * passed. */
bool progress_until(drail_t *t, bool (*reached)(struct link *link),
                    const struct peer *only, uint32_t rails, int ms);

#endif
