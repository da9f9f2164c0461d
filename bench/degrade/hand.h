/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out events: on the cables of shm rails (dapl_shm(7)), or by a command
 * of the user.
 */
#ifndef BENCH_DEGRADE_HAND_H
#define BENCH_DEGRADE_HAND_H

#include <sys/types.h>

#include "events.h"

typedef struct hand {
    const options_t *opts;
    events_t *events;
    int cable[DRAIL_MAX_RAILS]; /**< -1: none */
    unsigned next;              /**< event of the list */
    uint32_t cut;               /**< rails that are, as a mask */
    uint32_t left;              /**< those that the transport has left since */
    pid_t command;              /**< that runs, 0: none, … */
    int says;                   /**< … when its event took effect */
    event_t *carried_out;       /**< by it */
    uint64_t random, due_ns;    /**< of events that are drawn */
    struct since {
        uint64_t ns; /**< when the rail was found to be up, 0: it is not */
        uint64_t messages; /**< begun before */
    } since[DRAIL_MAX_RAILS];
    bool failed; /**< an event could not be carried out */
} hand_t;

/** Cables for the shm rails that are opened from now on, in this process and
 *  those it forks, unless there are some or --on-event is given. @return 0, or
 *  -1 with errno. */
int hand_cables_make(const options_t *opts);
/** Removes them. */
void hand_cables_remove(void);

/** When the rails are open. @return 0, or -1 when an event's rail has no cable:
 *  its index in *rail. */
int hand_open(hand_t *hand, const options_t *opts, events_t *events,
              unsigned *rail);
/** Gives all rails back, and waits for the command that runs. */
void hand_close(hand_t *hand);

/** What a hand must know of the stream. */
typedef struct sight {
    uint32_t up;     /**< rails that the transport has in use, as a mask */
    uint64_t now_ns; /**< since the start */
    uint64_t begun, acknowledged; /**< messages */
} sight_t;

/** Carries out what is due. To be called often. */
void hand_poll(hand_t *hand, const sight_t *sight);
/** When a stream of so many nanoseconds ends: where this process, or a command,
 *  was late, all events of a list still come, and what was to follow the last
 *  one does. */
uint64_t hand_end(const hand_t *hand, uint64_t ns);
/** Has all happened that was to be drawn, and is the time over? */
bool hand_done(const hand_t *hand, const sight_t *sight);

#endif
