/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heartbeats. A wire that drops everything is reported to neither end, and
 * verbs retransmit for long, or for ever. So a rank that waits checks, several
 * times within DRAIL_SILENCE_MS, whether each link with work has shown a sign
 * of life. Only time counts in which the peer shows signs over another link; if
 * need be, it is asked there by a probe.
 *
 * If the provider reports on the wire (health.h), acknowledgements of the
 * peer's system are signs of life. The system sends them also while the peer is
 * stopped, and while a long DTO is under way. A probe over the link itself
 * gives it something to acknowledge. The default time is longer than TCP delays
 * acknowledgements (40 ms).
 *
 * Otherwise events are signs of life. Then the peer itself must answer over the
 * other link, because a peer that is stopped, or computes, takes nothing from a
 * wire either. The bytes before the next event are given the time that they
 * need.
 *
 * Requests without an event show nothing. If a link has no others, a probe
 * follows them: its event tells of all before.
 */
#ifndef DRAIL_LINKS_FAILOVER_HEARTBEAT_H
#define DRAIL_LINKS_FAILOVER_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/base/handle.h"

/* A link at its last check. */
struct heartbeat {
    uint64_t ended; /* requests that were complete */
    uint64_t bytes; /* that had passed, as the provider reports */
    uint32_t acked; /* carried messages that the peer had acknowledged */
    bool awaits_event;
    bool reported;       /* the provider reports on the wire, … */
    bool owes_ack;       /* … and the peer's system owes an acknowledgement */
    bool answered[2];    /* by the peer, between this and the last check, … */
    bool alive[2];       /* … any sign of life; and one check earlier */
    unsigned checks;     /* in a row without a sign of life */
    uint64_t silent_ns;  /* in a row, while others were alive */
    uint64_t answer_ms;  /* an acknowledgement takes, as reported */
    uint64_t awaited;    /* bytes up to the next event, … */
    uint64_t awaited_ns; /* … which has been awaited for so long */
    uint64_t byte_ps;    /* a byte has taken at most; 0: not measured */
    uint64_t posted;     /* requests */
    uint64_t probed;     /* requests that a probe has followed */
};

/* Checks all links, if it is time. Not while several threads are at work. */
void heartbeat_check(drail_t *t);
/* Has a wait been so long that a check is due? */
static inline bool heartbeat_is_due(const drail_t *t, uint64_t waited_ns)
{
    return t->env.silence_ms &&
           waited_ns > t->env.silence_ms * MS / HEARTBEAT_CHECKS;
}

#endif
